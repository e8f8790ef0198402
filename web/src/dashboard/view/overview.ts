// Checks a second, of all rules or of one; and how long laju took for them.
import { h, say } from '../../dom';
import { formatNumber, formatRate, formatShare, formatSpan } from '../../format';
import type { Palette } from '../../view/surface';
import { fill, type Words } from '../../words';
import type { Board } from '../board';
import { Beat, Flow, KEPT_S } from '../history';
import { card, Facts } from './parts';
import { TimeChart } from './time_chart';

const SPANS_S = [60, 300, KEPT_S] as const;
export const SPAN_S = 300;
const STEPS_S = [60, 120, 180, 300, KEPT_S]; // a chart that begins is not drawn into the corner of an empty one

/** As much of the span as there is something to show of. */
export function fittingSpan(spanS: number, ageS: number): number {
  return Math.min(spanS, STEPS_S.find((step) => step >= ageS) ?? spanS);
}

export class Overview {
  readonly element: HTMLElement;
  private readonly title = h('h2', { id: 'checks-title' });
  private readonly all: HTMLButtonElement;
  private readonly spans: readonly HTMLButtonElement[];
  private readonly readouts: Readonly<Record<'admitted' | 'refused' | 'share' | 'shadow' | 'error', HTMLElement>>;
  private readonly sums: Readonly<Record<'admitted' | 'refused', HTMLElement>>;
  private readonly chart: TimeChart;

  constructor(
    private readonly board: Board,
    private readonly words: Words,
    filter: (rule: string | null) => void,
    span: (seconds: number) => void,
  ) {
    const rate = (value: number) => fill(words.perSecond, { n: formatRate(value) });
    this.all = h('button', { type: 'button', class: 'small', 'data-do': 'all-rules', onclick: () => filter(null) }, words.allRules);
    this.spans = SPANS_S.map((seconds) => h('button',
      { type: 'button', class: 'quiet small', 'data-span': seconds, onclick: () => span(seconds) },
      fill(words.minutes, { n: seconds / 60 })));
    const value = (name: string) => h('dd', { 'data-rate': name });
    const sum = (name: string) => h('dd', { class: 'sum', 'data-sum': name });
    this.readouts = { admitted: value('admitted'), refused: value('refused'), share: value('share'),
      shadow: value('shadow'), error: value('error') };
    this.sums = { admitted: sum('admitted'), refused: sum('refused') };
    const readout = (name: keyof typeof this.readouts, label: string, accent: string, below: HTMLElement | null = null) =>
      h('div', { 'data-accent': accent }, h('dt', {}, label), this.readouts[name], below);
    this.chart = new TimeChart({
      label: words.checksChart,
      height: 250,
      format: rate,
      lines: [
        { accent: 'admitted', name: words.admitted, column: Flow.admitted, color: ({ accents }) => accents['token-bucket'], filled: true },
        { accent: 'refused', name: words.refused, column: Flow.refused, color: ({ accents }) => accents['fixed-window'],
          onto: 0, hatched: true },
        { accent: 'shadow', name: words.wouldRefuse, column: Flow.shadow, color: ({ accents }) => accents['sliding-window-counter'],
          dash: [6, 4], rare: true },
        { accent: 'error', name: words.undecided, column: Flow.error, color: ({ alarm }) => alarm, dash: [2, 3], rare: true },
      ],
    });
    this.element = h('section', { class: 'card overview', 'aria-labelledby': this.title.id },
      h('div', { class: 'row spread' }, h('div', { class: 'row' }, this.title, this.all),
        h('div', { class: 'row segments', role: 'group', 'aria-label': words.shownSpan }, ...this.spans)),
      h('dl', { class: 'readouts' }, readout('admitted', words.admitted, 'admitted', this.sums.admitted),
        readout('refused', words.refused, 'refused', this.sums.refused), readout('share', words.refusedShare, 'refused'),
        readout('shadow', words.wouldRefuse, 'shadow'), readout('error', words.undecided, 'error')),
      this.chart.element);
  }

  /** `spanS` was chosen, `fittingS` is drawn. */
  update(palette: Palette, spanS: number, fittingS: number): void {
    const { board, words, readouts } = this;
    const { filter, history, status } = board;
    if (!status) return;
    say(this.title, filter === null ? words.checks : fill(words.checksOf, { rule: filter }));
    this.all.hidden = filter === null;
    for (const button of this.spans) button.setAttribute('aria-pressed', String(button.getAttribute('data-span') === String(spanS)));
    const rates = history.rates(filter);
    const sums = filter === null ? status.checks : status.rules.find(({ name }) => name === filter);
    for (const flow of ['admitted', 'refused', 'shadow', 'error'] as const) {
      say(readouts[flow], fill(words.perSecond, { n: formatRate(rates[flow]) }));
    }
    const all = rates.admitted + rates.refused;
    say(readouts.share, all > 0 ? formatShare(rates.refused / all) : '–');
    this.show('shadow', (sums?.shadow_denied ?? 0) > 0);
    this.show('error', (sums?.error ?? 0) > 0);
    const total = (n: number) => fill(words.sinceStart, { n: formatNumber(n) });
    say(this.sums.admitted, sums ? total(sums.allowed + sums.shadow_denied) : '');
    say(this.sums.refused, sums ? total(sums.denied) : '');
    this.chart.update(palette, history.flows(filter), status.now_ms / 1000, fittingS);
  }

  private show(name: 'shadow' | 'error', shown: boolean): void {
    const readout = this.readouts[name].parentElement;
    if (readout) readout.hidden = !shown;
  }
}

export class Latencies {
  readonly element: HTMLElement;
  private readonly facts = new Facts();
  private readonly chart: TimeChart;

  constructor(
    private readonly board: Board,
    private readonly words: Words,
  ) {
    const span = (us: number) => formatSpan(us);
    this.chart = new TimeChart({
      label: words.latencyChart,
      height: 226,
      log: true,
      format: span,
      axis: span,
      lines: [
        { accent: 'own', name: 'p99', column: Beat.p99, color: ({ ink }) => ink },
        { accent: 'own', name: 'p50', column: Beat.p50, color: ({ ink }) => ink, dash: [4, 3], thin: true },
        { accent: 'store', name: words.storeP99, column: Beat.storeP99, color: ({ accents }) => accents['leaky-bucket'], rare: true },
        { accent: 'store', name: words.storeP50, column: Beat.storeP50, color: ({ accents }) => accents['leaky-bucket'],
          dash: [4, 3], thin: true, rare: true },
      ],
    });
    this.element = card('latency', words.latency, this.facts.element, this.chart.element,
      h('p', { class: 'hint' }, words.latencyHint));
  }

  update(palette: Palette, spanS: number): void {
    const { board, words, facts } = this;
    const { status, history } = board;
    if (!status) return;
    const { latency, store } = status;
    const told = (of: { count: number }, us: number) => (of.count > 0 ? formatSpan(us) : '–');
    facts.show('p50', 'p50', told(latency, latency.p50_us));
    facts.show('p99', 'p99', told(latency, latency.p99_us));
    facts.show('storeP50', words.storeP50, store && told(store.latency, store.latency.p50_us));
    facts.show('storeP99', words.storeP99, store && told(store.latency, store.latency.p99_us));
    this.chart.update(palette, history.beats, status.now_ms / 1000, spanS);
  }
}
