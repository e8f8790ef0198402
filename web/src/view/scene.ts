// What the pictures of the five states have in common.
import { Place } from '../simulator/law';
import type { Numbers, World } from '../simulator/world';
import type { Words } from '../words';
import type { Palette, Surface } from './surface';

export interface Scene {
  surface: Surface;
  palette: Palette;
  accent: string;
  world: World;
  lane: number;
  numbers: Numbers;
  peek: Float64Array; // what the law finds and answers now, for a cost of 0
  flights: Flights;
  words: Words;
}

export const peeked = (scene: Scene, place: number): number => scene.peek[place] ?? 0;

/** Tokens that stand against the capacity of a bucket, in parts too. */
export function bucketTokens(scene: Scene): number {
  return peeked(scene, Place.used) / scene.world.lane(scene.lane).terms.period;
}

const FLIGHT_MS = 650;
const FLIGHTS_MOST = 40;

interface Point {
  x: number;
  y: number;
}

/** Requests on their way into the picture: they fly in real time, whatever the run's speed, and only where motion is wanted. */
export class Flights {
  private flying: { bornMs: number; allowed: boolean }[] = [];

  add(allowed: boolean, nowMs: number): void {
    if (this.flying.length < FLIGHTS_MOST) this.flying.push({ bornMs: nowMs + 45 * this.flying.length, allowed });
  }

  get any(): boolean {
    return this.flying.length > 0;
  }

  clear(): void {
    this.flying = [];
  }

  /** From `start` to `gate`; what was admitted goes on to `goal`, what was refused falls. */
  draw(surface: Surface, palette: Palette, accent: string, start: Point, gate: Point, goal: Point): void {
    const nowMs = performance.now();
    this.flying = this.flying.filter(({ bornMs }) => nowMs - bornMs < FLIGHT_MS);
    for (const { bornMs, allowed } of this.flying) {
      const part = (nowMs - bornMs) / FLIGHT_MS;
      if (part < 0) continue;
      const mix = (from: Point, to: Point, share: number): Point => ({
        x: from.x + (to.x - from.x) * share,
        y: from.y + (to.y - from.y) * share,
      });
      if (part < 0.45) {
        const { x, y } = mix(start, gate, part / 0.45);
        surface.ring(x, y, 5, palette.ink);
        continue;
      }
      const rest = (part - 0.45) / 0.55;
      if (allowed) {
        const { x, y } = mix(gate, goal, rest);
        surface.faded(1.3 - rest, () => surface.disc(x, y, 5.5, accent));
      } else {
        surface.faded(1 - rest, () => surface.cross(gate.x - 10 * rest, gate.y + 60 * rest * rest, 5, palette.ink));
      }
    }
  }
}

/** A bar that says how much of what may be is taken. `parts` stand on one another; all are tokens. */
export function drawGauge(scene: Scene, x: number, parts: readonly { tokens: number; strength: number }[]): void {
  const { surface, palette, accent, numbers } = scene;
  const top = 46;
  const height = surface.height - top - 66;
  const width = 34;
  const most = Math.max(1, numbers.limit);
  const taken = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  surface.box(x, top, width, height, 8, palette.sunk);
  let bottom = top + height;
  surface.clipped(x, top, width, height, () => {
    for (const { tokens, strength } of parts) {
      const part = (Math.min(tokens, most) / most) * height;
      surface.faded(strength, () => surface.box(x, bottom - part, width, part, 0, accent));
      bottom -= part;
    }
  }, 8);
  surface.box(x, top, width, height, 8, null, palette.line);
  const shown = Number.isInteger(taken) ? String(taken) : taken.toFixed(1);
  surface.text(scene.words.gauge, x + width / 2, 14, { color: palette.muted, size: 11, align: 'center' });
  surface.text(`${shown} / ${numbers.limit}`, x + width / 2, 31, { color: palette.ink, weight: 650, align: 'center' });
}
