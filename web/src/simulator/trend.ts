// How many tokens the period ending at each moment held, lane by lane, over the whole run: a bounded number of samples, each
// the most of its stretch of time. When they are full, neighbours become one and stretches are twice as long.
import type { World } from './world';

const SAMPLES_MOST = 1024;

export class Trend {
  readonly seconds: number[] = []; // since `zeroUs`
  readonly held: number[][];
  private stepUs: number;
  private dueUs: number;

  constructor(
    startUs: number,
    private readonly zeroUs: number,
    periodUs: number,
    lanes: number,
  ) {
    this.stepUs = Math.max(1, Math.floor(periodUs / 100));
    this.dueUs = startUs;
    this.held = Array.from({ length: lanes }, () => []);
  }

  /** The latest that a run may go on to before it is sampled again. */
  get nextUs(): number {
    return this.dueUs;
  }

  sample(world: World): void {
    if (world.nowUs < this.dueUs) return;
    this.seconds.push((world.nowUs - this.zeroUs) / 1_000_000);
    this.held.forEach((values, lane) => values.push(world.lane(lane).worst.at(world.nowUs)));
    this.dueUs = world.nowUs + this.stepUs;
    if (this.seconds.length === SAMPLES_MOST) this.halve();
  }

  private halve(): void {
    const half = SAMPLES_MOST / 2;
    for (let i = 0; i < half; i++) {
      this.seconds[i] = this.seconds[2 * i] ?? 0;
      for (const values of this.held) values[i] = Math.max(values[2 * i] ?? 0, values[2 * i + 1] ?? 0);
    }
    this.seconds.length = half;
    for (const values of this.held) values.length = half;
    this.stepUs *= 2;
  }
}
