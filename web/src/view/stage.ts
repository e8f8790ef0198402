// The picture of one algorithm's state, and the same in words.
import { h, say } from '../dom';
import { formatDuration } from '../duration';
import { formatNumber, formatSpan } from '../format';
import { ALGORITHMS, type Algorithm, Place } from '../simulator/law';
import type { Run } from '../simulator/run';
import { fill, type Words } from '../words';
import { Flights, type Scene } from './scene';
import { drawLeakyBucket, drawTokenBucket } from './stage_buckets';
import { drawFixedWindow, drawSlidingCounter, drawSlidingLog } from './stage_windows';
import { type Palette, Surface } from './surface';

const PICTURES: Readonly<Record<Algorithm, (scene: Scene) => void>> = {
  'token-bucket': drawTokenBucket,
  'leaky-bucket': drawLeakyBucket,
  'fixed-window': drawFixedWindow,
  'sliding-window-counter': drawSlidingCounter,
  'sliding-window-log': drawSlidingLog,
};
const HEIGHT = 290;

/** What an algorithm does, with the rule's own numbers. */
export function aboutOf(run: Run, words: Words): string {
  const { show, algorithm, limit, burst, periodUs, pods } = run.settings;
  const capacity = limit === 0 ? 0 : burst;
  const about = show === 'one' ? words[`about-${algorithm}`] : words[`about-${show}`];
  return fill(about, { limit, capacity, per: formatDuration(periodUs), n: pods });
}

export class Stage {
  readonly element: HTMLElement;
  private readonly surface: Surface;
  private readonly flights = new Flights();
  private readonly outputs: Readonly<Record<'remaining' | 'moreAfter' | 'resetAfter', HTMLElement>>;
  private seen = 0;
  private seenWorld: unknown = null;

  constructor(
    private readonly run: Run,
    private readonly words: Words,
    private readonly motion: () => boolean,
    resized: () => void,
  ) {
    this.surface = new Surface(HEIGHT, resized);
    this.surface.canvas.setAttribute('role', 'img');
    const output = (name: string) => h('dd', { 'data-now': name });
    this.outputs = { remaining: output('remaining'), moreAfter: output('more'), resetAfter: output('reset') };
    const pair = (name: keyof Stage['outputs']) => h('div', {}, h('dt', {}, words[name]), this.outputs[name]);
    this.element = h('div', { class: 'stage' }, this.surface.canvas,
      h('dl', { class: 'readouts' }, pair('remaining'), pair('moreAfter'), pair('resetAfter')));
  }

  /** Whether something still flies: then there is a next frame to draw, also while time stands. */
  get moving(): boolean {
    return this.flights.any;
  }

  update(palette: Palette): void {
    const { run, words, surface } = this;
    if (surface.width === 0) return;
    this.launch();
    const { world, lane } = run;
    const peek = world.lane(lane).keyOf(0).check(world.nowUs, 0);
    const algorithm = ALGORITHMS[lane] ?? 'token-bucket';
    surface.clear();
    PICTURES[algorithm]({ surface, palette, accent: palette.accents[algorithm], world, lane, numbers: world.numbers, peek,
      flights: this.flights, words });
    const { capacity } = world.lane(lane).terms;
    const remaining = peek[Place.remaining] ?? 0;
    say(this.outputs.remaining, `${formatNumber(remaining)} / ${formatNumber(capacity)}`);
    say(this.outputs.moreAfter, remaining < capacity ? formatSpan(peek[Place.moreAfterUs] ?? 0) : '–');
    say(this.outputs.resetAfter, formatSpan(peek[Place.resetAfterUs] ?? 0));
    surface.canvas.setAttribute('aria-label', fill(words.stageLabel, { algorithm: words[algorithm], remaining, capacity }));
  }

  /** A flight for each request since the last picture. */
  private launch(): void {
    const { world, lane } = this.run;
    const { history } = world;
    if (this.seenWorld !== world || !this.motion()) {
      this.flights.clear();
      this.seen = history.count;
      this.seenWorld = world;
    }
    const nowMs = performance.now();
    for (let request = Math.max(this.seen + 1, history.count - 20); request <= history.count; request++) {
      this.flights.add(history.number(lane, request, Place.allowed) === 1, nowMs);
    }
    this.seen = history.count;
  }
}
