// Lanes one under another: who decided, the timeline, and what came of it.
import { h, say } from '../dom';
import { formatDuration } from '../duration';
import { formatNumber } from '../format';
import type { Algorithm } from '../simulator/law';
import type { Run } from '../simulator/run';
import { fill, type Words } from '../words';
import type { Palette } from './surface';
import { Timeline } from './timeline';

export interface LaneName {
  lane: number;
  algorithm: Algorithm;
  name: string;
}

type Count = 'admitted' | 'refused' | 'worst' | 'memory';

class LaneRow {
  readonly element: HTMLElement;
  private readonly timeline: Timeline;
  private readonly counts: Readonly<Record<Count, HTMLElement>>;
  private readonly leaving: HTMLElement;

  constructor(
    private readonly run: Run,
    private readonly words: Words,
    private readonly of: LaneName,
    choose: (lane: number, request: number | null) => void,
    resized: () => void,
  ) {
    const { lane, algorithm, name } = of;
    this.timeline = new Timeline(run, words, lane, algorithm, name, (request) => choose(lane, request), resized);
    const count = (what: Count) => h('dd', { 'data-count': what });
    this.counts = { admitted: count('admitted'), refused: count('refused'), worst: count('worst'), memory: count('memory') };
    this.leaving = h('dd', { class: 'muted', 'data-count': 'leaving', hidden: algorithm !== 'leaky-bucket' });
    const per = formatDuration(run.settings.periodUs);
    const pair = (label: string, what: Count, title = '') =>
      h('div', { title: title || undefined }, h('dt', {}, label), this.counts[what], what === 'worst' ? this.leaving : null);
    this.element = h('section', { class: 'lane', 'data-lane': lane, 'data-accent': algorithm, 'aria-label': name },
      h('h3', {}, name), this.timeline.element,
      h('dl', { class: 'counts' }, pair(words.admitted, 'admitted'), pair(words.refused, 'refused'),
        pair(fill(words.worst, { per }), 'worst', words.worstHint), pair(words.memory, 'memory')));
  }

  update(palette: Palette): void {
    const lane = this.run.world.lane(this.of.lane);
    this.timeline.update(palette);
    say(this.counts.admitted, formatNumber(lane.admitted));
    say(this.counts.refused, formatNumber(lane.refused));
    say(this.counts.worst, formatNumber(lane.worst.most));
    this.counts.worst.classList.toggle('over', lane.worst.most > this.run.settings.limit);
    say(this.leaving, fill(this.words.leaving, { n: formatNumber(lane.leaving.most) }));
    say(this.counts.memory, fill(this.words.bytes, { n: formatNumber(lane.stateBytes) }));
  }
}

export class Lanes {
  readonly element: HTMLElement;
  private readonly rows: readonly LaneRow[];

  constructor(
    run: Run,
    words: Words,
    lanes: readonly LaneName[],
    choose: (lane: number, request: number | null) => void,
    resized: () => void,
  ) {
    this.rows = lanes.map((of) => new LaneRow(run, words, of, choose, resized));
    this.element = h('div', { class: 'lanes' }, ...this.rows.map((row) => row.element));
  }

  update(palette: Palette): void {
    for (const row of this.rows) row.update(palette);
  }
}
