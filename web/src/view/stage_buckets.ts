// The two buckets: tokens that fill up and are taken, and a queue that drains evenly.
import { fill } from '../words';
import { formatSpan } from '../format';
import { Place } from '../simulator/law';
import { bucketTokens, peeked, type Scene } from './scene';

const TOKENS_DRAWN_MOST = 64; // more are drawn as a fluid
const PLACES_DRAWN_MOST = 40;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Microseconds in which one token comes back. */
const tokenUs = (scene: Scene): number => scene.numbers.periodUs / Math.max(1, scene.numbers.limit);

function drawTokens(scene: Scene, box: Box, full: number): void {
  const { surface, palette, accent } = scene;
  const capacity = scene.world.lane(scene.lane).terms.capacity;
  const columns = Math.max(1, Math.ceil(Math.sqrt((capacity * box.width) / box.height)));
  const rows = Math.max(1, Math.ceil(capacity / columns));
  const [stepX, stepY] = [box.width / columns, box.height / rows];
  const radius = Math.min(stepX, stepY, 40) * 0.4;
  for (let i = 0; i < capacity; i++) {
    const x = box.x + stepX * ((i % columns) + 0.5);
    const y = box.y + box.height - stepY * (Math.floor(i / columns) + 0.5);
    const part = Math.max(0, Math.min(1, full - i));
    if (part === 1) surface.disc(x, y, radius, accent);
    else {
      surface.ring(x, y, radius, palette.line);
      if (part > 0) surface.faded(0.55, () => surface.disc(x, y, radius * Math.sqrt(part), accent));
    }
  }
}

function drawFluid(scene: Scene, box: Box, full: number, capacity: number): void {
  const height = (box.height * full) / Math.max(1, capacity);
  scene.surface.box(box.x, box.y + box.height - height, box.width, height, 8, scene.accent);
}

function drawTap(scene: Scene, x: number, bucketTop: number, part: number, filling: boolean): void {
  const { surface, palette, accent, words } = scene;
  surface.box(x - 20, 8, 40, 12, 4, palette.muted);
  surface.box(x - 7, 20, 14, 9, 2, palette.muted);
  const label = fill(words.tokenEvery, { wait: formatSpan(tokenUs(scene)) });
  if (scene.numbers.limit > 0) surface.text(label, x + 34, 16, { color: palette.muted });
  if (filling) surface.disc(x, 34 + (bucketTop - 34) * part * part, 3 + 4 * part, accent);
}

export function drawTokenBucket(scene: Scene): void {
  const { surface, palette } = scene;
  const { capacity } = scene.world.lane(scene.lane).terms;
  const full = Math.max(0, capacity - bucketTokens(scene));
  const width = Math.min(320, surface.width * 0.52);
  const box: Box = { x: (surface.width - width) / 2, y: 72, width, height: surface.height - 72 - 40 };
  const middle = box.y + box.height * 0.5;
  drawTap(scene, surface.width / 2, box.y, full % 1, full < capacity);
  surface.vessel(box.x - 10, box.y - 14, box.width + 20, box.height + 24, palette.sunk, palette.edge);
  if (capacity <= TOKENS_DRAWN_MOST) drawTokens(scene, box, full);
  else drawFluid(scene, box, full, capacity);
  scene.flights.draw(surface, palette, scene.accent, { x: -8, y: middle }, { x: box.x - 22, y: middle },
    { x: surface.width + 8, y: middle });
  const label = fill(scene.words.tokensLeft, { n: Math.floor(full + 1e-9), of: capacity });
  surface.text(label, surface.width / 2, surface.height - 12, { color: palette.ink, weight: 600, align: 'center' });
}

/** The queue: who was admitted and still waits, or leaves just now. */
function drawQueue(scene: Scene, outlet: number, y: number, step: number, radius: number): void {
  const { surface, world, accent, numbers } = scene;
  const { history, nowUs } = world;
  const every = tokenUs(scene);
  for (let request = history.count; request >= history.first; request--) {
    const atUs = history.atUs(request);
    if (nowUs - atUs > (world.lane(scene.lane).terms.capacity + 4) * every) break;
    if (history.number(scene.lane, request, Place.allowed) !== 1) continue;
    const ahead = (atUs + history.number(scene.lane, request, Place.delayUs) - nowUs) / every;
    const length = Math.max(1, numbers.cost);
    if (ahead < -2 - length) continue;
    const left = outlet - (ahead + length) * step + step / 2 - radius;
    surface.faded(ahead >= 0 ? 1 : 1 + ahead / (2 + length), () =>
      surface.box(left, y - radius, (length - 1) * step + 2 * radius, 2 * radius, radius, accent));
  }
}

export function drawLeakyBucket(scene: Scene): void {
  const { surface, palette, words } = scene;
  const { capacity } = scene.world.lane(scene.lane).terms;
  const left = Math.min(70, surface.width * 0.12);
  const outlet = surface.width - Math.min(150, surface.width * 0.24);
  const step = (outlet - left) / Math.max(1, capacity);
  const radius = Math.max(2, Math.min(27, step * 0.46));
  const y = surface.height * 0.46;
  const half = radius + 8;
  surface.box(left - 6, y - half, outlet - left + 6, 2 * half, half / 2, palette.sunk, palette.line);
  if (capacity <= PLACES_DRAWN_MOST) {
    for (let i = 0; i < capacity; i++) {
      surface.disc(left + step * (i + 0.5), y, 3, palette.line);
    }
  }
  surface.clipped(left - 6, 0, surface.width - left + 6, surface.height, () => drawQueue(scene, outlet, y, step, radius));
  surface.stroke(outlet, y - half - 10, outlet, y + half + 10, palette.ink, 2.5);
  const waiting = bucketTokens(scene);
  const every = fill(words.leavesEvery, { wait: formatSpan(tokenUs(scene)) });
  if (scene.numbers.limit > 0) {
    surface.text(every, surface.width - 8, y - half - 26, { color: palette.muted, align: 'right' });
  }
  scene.flights.draw(surface, palette, scene.accent, { x: left - 30, y: 10 }, { x: left - 26, y: y - half }, { x: left, y });
  const label = fill(words.queued, { n: Math.ceil(waiting - 1e-9), of: capacity, wait: formatSpan(peeked(scene, Place.resetAfterUs)) });
  surface.text(label, surface.width / 2, surface.height - 22, { color: palette.ink, weight: 600, align: 'center' });
}
