// What the page shows and plays: a world, how fast its time goes, and which of its requests is looked at. Knows no document.
import { ALGORITHMS, type Law } from './law';
import { type Settings, SLOW } from './settings';
import { Trend } from './trend';
import { LOCAL, World } from './world';

export const REQUESTS_A_FRAME_MOST = 4000; // more, and time goes slower than asked
const AHEAD_PERIODS = 10;
const JUMP_MS = 12; // of real time a frame
const FRAME_MS_MOST = 100; // after a pause of the browser's own, time does not leap

/** Whatever of these changes, the run begins anew; the others only change what is looked at. */
const MAKES_A_RUN = ['limit', 'periodUs', 'burst', 'cost', 'traffic', 'rate', 'pods', 'seed'] as const;

export interface Chosen {
  lane: number;
  request: number;
}

export class Run {
  world: World;
  trend: Trend;
  playing = false;
  slow = false; // slow motion, whatever speed is set
  overtaken = false; // the last frame had more requests than a frame takes
  chosen: Chosen | null = null;
  own: Float64Array = new Float64Array(0);
  private jump: { fromUs: number; toUs: number } | null = null;

  constructor(
    private readonly law: Law,
    public settings: Settings,
  ) {
    [this.world, this.trend] = this.begin();
  }

  private begin(): [World, Trend] {
    const { show, algorithm, limit, burst, periodUs, cost, traffic, rate, pods, seed } = this.settings;
    const plan = { kind: traffic, rate, pods, seed, limit, cost, periodUs, own: this.own };
    const world = new World(this.law, { limit, burst, periodUs, cost }, plan, show === 'pods' ? algorithm : null);
    return [world, new Trend(world.nowUs, traffic === 'own' ? world.nowUs : 0, periodUs, ALGORITHMS.length)];
  }

  /** The lane that the picture shows. */
  get lane(): number {
    return ALGORITHMS.indexOf(this.settings.algorithm);
  }

  get speed(): number {
    return this.slow ? SLOW : this.settings.speed;
  }

  /** How much of a jump is done, 0 to 1; null where there is none. */
  get jumped(): number | null {
    if (!this.jump) return null;
    return (this.world.nowUs - this.jump.fromUs) / Math.max(1, this.jump.toUs - this.jump.fromUs);
  }

  change(part: Partial<Settings>): void {
    const before = this.settings;
    this.settings = { ...before, ...part };
    const { show, algorithm } = this.settings;
    const pods = show === 'pods' && (before.show !== 'pods' || before.algorithm !== algorithm);
    if (pods || MAKES_A_RUN.some((name) => before[name] !== this.settings[name])) this.restart();
    else if (this.chosen && before.show !== show) this.chosen = null;
    else if (this.chosen && this.chosen.lane < LOCAL && show === 'one') this.chosen = { ...this.chosen, lane: this.lane };
  }

  /** Somebody's own times, in order, as the traffic of a new run. */
  replay(times: Float64Array): void {
    this.own = times;
    this.settings = { ...this.settings, traffic: 'own' };
    this.restart();
  }

  restart(): void {
    this.chosen = null;
    this.jump = null;
    [this.world, this.trend] = this.begin();
  }

  send(count: number): void {
    this.world.send(count);
  }

  /** On to the next request by itself; where none will come, a twentieth of a period. */
  step(): void {
    this.playing = false;
    const next = this.world.nextUs ?? this.world.nowUs + this.settings.periodUs / 20;
    this.goTo(next, next === this.world.nextUs ? 1 : REQUESTS_A_FRAME_MOST);
  }

  /** Ten periods ahead, or to the end of somebody's own traffic, as fast as it goes, over as many frames as it takes. */
  goAhead(): void {
    const { nowUs } = this.world;
    const last = this.own[this.own.length - 1] ?? nowUs;
    const toUs = this.settings.traffic === 'own' ? Math.max(nowUs, last) : nowUs + AHEAD_PERIODS * this.settings.periodUs;
    this.jump = { fromUs: nowUs, toUs };
  }

  choose(chosen: Chosen | null): void {
    this.chosen = chosen;
    if (chosen) this.playing = false;
  }

  /** A frame: `elapsedMs` of real time have passed. Returns whether anything moved. */
  frame(elapsedMs: number): boolean {
    if (this.jump) return this.jumpOn(this.jump.toUs);
    this.overtaken = false;
    if (!this.playing) return false;
    const toUs = this.world.nowUs + Math.min(elapsedMs, FRAME_MS_MOST) * 1000 * this.speed;
    this.overtaken = !this.goTo(toUs, REQUESTS_A_FRAME_MOST);
    return true;
  }

  private jumpOn(toUs: number): boolean {
    const untilMs = performance.now() + JUMP_MS;
    while (performance.now() < untilMs) {
      if (this.goTo(toUs, 500)) {
        this.jump = null;
        break;
      }
    }
    return true;
  }

  /** Lets time pass, stopping where the trend wants a sample. Whether it got there before `most` requests had come. */
  private goTo(toUs: number, most: number): boolean {
    for (let left = most; ; ) {
      const until = Math.min(toUs, Math.max(this.trend.nextUs, this.world.nowUs));
      left -= this.world.advance(until, left);
      this.trend.sample(this.world);
      if (this.world.nowUs >= Math.floor(toUs)) return true;
      if (left <= 0) return false;
    }
  }
}
