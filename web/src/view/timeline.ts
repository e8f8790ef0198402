// One lane of requests over time. It is a slider over their numbers, so that each can be reached by keyboard and is read
// aloud; a click or a tap chooses the nearest.
import { h } from '../dom';
import { formatDuration } from '../duration';
import { formatMoment, formatNumber, formatSpan } from '../format';
import { type Algorithm, Place } from '../simulator/law';
import type { Run } from '../simulator/run';
import type { Lane } from '../simulator/world';
import { fill, type Words } from '../words';
import { type Palette, Surface } from './surface';

const PERIODS_BACK = 3;
const PERIODS_AHEAD = 0.35;
const PAGE = 10; // requests that Page Up and Page Down move by
const HEIGHT = 76;
const ADMITTED_Y = 24;
const REFUSED_Y = 44;
const LEAVES_Y = 42; // where a leaky bucket's requests leave; its refused are lower
const AXIS_Y = 62;

/** What became of a request, in words. */
export function verdictOf(words: Words, row: Float64Array): string {
  if (row[Place.allowed] !== 1) return words.wasRefused;
  const delayUs = row[Place.delayUs] ?? 0;
  return delayUs > 0 ? fill(words.wasAdmittedLater, { wait: formatSpan(delayUs) }) : words.wasAdmitted;
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly surface: Surface;

  /** `name`: who decided here, in words. */
  constructor(
    private readonly run: Run,
    private readonly words: Words,
    readonly lane: number,
    private readonly algorithm: Algorithm,
    name: string,
    private readonly choose: (request: number | null) => void,
    resized: () => void,
  ) {
    this.surface = new Surface(HEIGHT, resized);
    this.surface.canvas.setAttribute('aria-hidden', 'true');
    this.element = h('div', {
      class: 'timeline',
      role: 'slider',
      tabindex: 0,
      'aria-label': fill(words.timelineLabel, { lane: name }),
      'aria-valuemin': 0,
      'data-timeline': lane,
      onkeydown: (event) => this.key(event as KeyboardEvent),
      onclick: (event) => this.click(event as MouseEvent),
    }, this.surface.canvas);
  }

  private get lived(): Lane {
    return this.run.world.lane(this.lane);
  }

  private get chosen(): number | null {
    return this.run.chosen?.lane === this.lane ? this.run.chosen.request : null;
  }

  private key(event: KeyboardEvent): void {
    const { history } = this.run.world;
    if (history.count === 0) return;
    if (event.key === 'Escape') this.choose(null);
    const from = this.chosen ?? history.count + 1;
    const goal: Record<string, number> = {
      ArrowLeft: from - 1,
      ArrowDown: from - 1,
      ArrowRight: from + 1,
      ArrowUp: from + 1,
      PageDown: from - PAGE,
      PageUp: from + PAGE,
      Home: history.first,
      End: history.count,
      Enter: this.chosen ?? history.count,
      ' ': this.chosen ?? history.count,
    };
    const request = goal[event.key];
    if (request === undefined) return;
    event.preventDefault();
    this.choose(Math.max(history.first, Math.min(history.count, request)));
  }

  private click(event: MouseEvent): void {
    const { world } = this.run;
    const x = event.clientX - this.surface.canvas.getBoundingClientRect().left;
    const us = this.timeOf(x);
    const after = Math.min(world.history.since(us), world.history.count);
    if (after === 0) return;
    const before = Math.max(world.history.first, after - 1);
    const nearer = us - world.history.atUs(before) < world.history.atUs(after) - us ? before : after;
    this.choose(nearer);
  }

  /** Now, or the moment of the request that is looked at where that is out of sight. */
  private get anchorUs(): number {
    const { world, settings } = this.run;
    if (this.chosen === null) return world.nowUs;
    const atUs = world.history.atUs(this.chosen);
    const sight = (PERIODS_BACK - 0.1) * settings.periodUs;
    return world.nowUs - atUs > sight ? atUs + sight : world.nowUs;
  }

  private xOf(us: number): number {
    const { periodUs } = this.run.settings;
    const perPeriod = this.surface.width / (PERIODS_BACK + PERIODS_AHEAD);
    return PERIODS_BACK * perPeriod + ((us - this.anchorUs) / periodUs) * perPeriod;
  }

  private timeOf(x: number): number {
    const perPeriod = this.surface.width / (PERIODS_BACK + PERIODS_AHEAD);
    return this.anchorUs + ((x - PERIODS_BACK * perPeriod) / perPeriod) * this.run.settings.periodUs;
  }

  update(palette: Palette): void {
    const { surface } = this;
    this.tell();
    if (surface.width === 0) return;
    surface.clear();
    this.drawExcess(palette);
    this.drawGrid(palette);
    this.drawRequests(palette);
    this.drawChosen(palette);
  }

  private tell(): void {
    const { words, element, run, lane } = this;
    const { history } = run.world;
    const request = this.chosen ?? history.count;
    const at = formatMoment(history.atUs(request), run.settings.traffic === 'own');
    const text = request === 0 ? words.timelineEmpty
      : fill(words.timelineAt, { n: formatNumber(request), at, verdict: verdictOf(words, history.row(lane, request)) });
    element.setAttribute('aria-valuemax', String(history.count));
    element.setAttribute('aria-valuenow', String(request));
    element.setAttribute('aria-valuetext', text);
  }

  /** The fullest stretch, where it holds more than the limit: what a limit is thought to exclude. */
  private drawExcess(palette: Palette): void {
    const { surface, words, run } = this;
    const { limit, periodUs } = run.settings;
    const { most, mostFromUs, mostAtUs } = this.lived.worst;
    if (most <= limit) return;
    const [left, right] = [this.xOf(mostFromUs) - 8, this.xOf(mostAtUs) + 8];
    if (right < 0) return;
    surface.faded(0.16, () => surface.box(left, 2, right - left, AXIS_Y - 4, 8, palette.alarm));
    const text = fill(words.overLimit, { n: formatNumber(most), span: formatSpan(mostAtUs - mostFromUs), limit, per: formatDuration(periodUs) });
    const style = { color: palette.alarm, weight: 650, size: 11 };
    const width = surface.widthOf(text, style);
    const x = left - 6 > width ? left - 6 - width : Math.min(right + 6, surface.width - width - 4);
    surface.text(text, Math.max(4, x), 12, style);
  }

  private drawGrid(palette: Palette): void {
    const { surface, run } = this;
    const { periodUs, traffic } = run.settings;
    const first = Math.max(0, Math.ceil(this.timeOf(0) / periodUs));
    surface.stroke(0, AXIS_Y, surface.width, AXIS_Y, palette.line);
    for (let edge = first; this.xOf(edge * periodUs) < surface.width; edge++) {
      const x = this.xOf(edge * periodUs);
      surface.stroke(x, 4, x, AXIS_Y + 3, palette.line, 1, [2, 3]);
      const label = formatMoment(edge * periodUs, traffic === 'own').replace(/([.,]00)(?= s)/, '').replace('.000', '');
      surface.text(label, x + 4, AXIS_Y + 9, { color: palette.muted, size: 10.5 });
    }
    const now = this.xOf(run.world.nowUs);
    if (now <= surface.width) surface.stroke(now, 2, now, AXIS_Y + 6, palette.ink, 1.5);
  }

  private drawRequests(palette: Palette): void {
    const { surface, run, lane } = this;
    const { history } = run.world;
    const accent = palette.accents[this.algorithm];
    const leaky = this.algorithm === 'leaky-bucket';
    const drawn = [-9, -9, -9];
    const room = (row: number, x: number, least: number) => {
      if (x - (drawn[row] ?? 0) < least) return false;
      drawn[row] = x;
      return true;
    };
    const capacityUs = leaky ? (this.lived.terms.capacity / Math.max(1, this.lived.terms.limit)) * run.settings.periodUs : 0;
    for (let request = history.since(this.timeOf(-20) - capacityUs); request <= history.count; request++) {
      const x = this.xOf(history.atUs(request));
      if (history.number(lane, request, Place.allowed) !== 1) {
        if (room(0, x, 1.5)) surface.cross(x, leaky ? REFUSED_Y + 10 : REFUSED_Y, 3.5, palette.muted);
        continue;
      }
      const leaves = leaky ? this.xOf(history.atUs(request) + history.number(lane, request, Place.delayUs)) : x;
      if (leaky && room(1, leaves, 1.5)) {
        surface.faded(0.35, () => surface.stroke(x, ADMITTED_Y, leaves, LEAVES_Y, accent, 1.25));
        surface.disc(leaves, LEAVES_Y, 3.5, accent);
      }
      if (!room(2, x, 1.5)) continue;
      if (leaky) surface.ring(x, ADMITTED_Y, 4, accent);
      else surface.disc(x, ADMITTED_Y, 4.5, accent);
    }
  }

  private drawChosen(palette: Palette): void {
    if (this.chosen === null) return;
    const { history } = this.run.world;
    const x = this.xOf(history.atUs(this.chosen));
    const allowed = history.number(this.lane, this.chosen, Place.allowed) === 1;
    const refusedY = this.algorithm === 'leaky-bucket' ? REFUSED_Y + 10 : REFUSED_Y;
    this.surface.ring(x, allowed ? ADMITTED_Y : refusedY, 9, palette.ink, 2);
  }
}
