// Why one request was admitted or refused.
import { h } from '../dom';
import { formatMoment, formatNumber, formatSpan } from '../format';
import { explain, type Explanation, plain } from '../simulator/explain';
import { type Algorithm, Place } from '../simulator/law';
import type { Run } from '../simulator/run';
import { LOCAL } from '../simulator/world';
import { fill, type Words } from '../words';
import { verdictOf } from './timeline';

const meaningOf = (words: Words, algorithm: Algorithm, symbol: string): string => {
  const bucket = algorithm.endsWith('bucket');
  const meanings: Readonly<Record<string, string>> = {
    used: words.meanUsed,
    n: words.meanN,
    P: words.meanP,
    B: words.meanB,
    L: bucket ? words.meanL : words.meanLimit,
    count: words.meanCount,
    curr: words.meanCurr,
    prev: words.meanPrev,
    e: words.meanE,
    held: words.meanHeld,
  };
  return meanings[symbol] ?? '';
};

export class Why {
  readonly element: HTMLElement;
  private shown = '';

  constructor(
    private readonly run: Run,
    private readonly words: Words,
    private readonly nameOf: (lane: number) => string,
    private readonly choose: (request: number | null) => void,
  ) {
    this.element = h('section', { class: 'why card', 'aria-label': words.why, 'aria-live': 'polite', hidden: true,
      onkeydown: (event) => (event as KeyboardEvent).key === 'Escape' && this.choose(null) });
  }

  update(): void {
    const { chosen, world } = this.run;
    const key = chosen ? `${chosen.lane}:${chosen.request}` : '';
    const gone = chosen !== null && chosen.request < world.history.first;
    if (gone) this.choose(null);
    if (key === this.shown || gone) return;
    this.shown = key;
    this.element.hidden = chosen === null;
    if (!chosen) return;
    this.element.dataset['accent'] = world.lane(chosen.lane).algorithm;
    this.element.dataset['request'] = String(chosen.request);
    this.element.dataset['pod'] = String(world.history.pod(chosen.request) + 1);
    const held = this.element.contains(document.activeElement) ? document.activeElement?.getAttribute('data-do') : null;
    this.element.replaceChildren(...this.content(chosen.lane, chosen.request));
    if (held) this.element.querySelector<HTMLElement>(`[data-do=${held}]`)?.focus(); // built anew, it keeps the keyboard
  }

  private content(laneIndex: number, request: number): Node[] {
    const { words, run } = this;
    const { world } = run;
    const lane = world.lane(laneIndex);
    const row = world.history.row(laneIndex, request).slice();
    const allowed = row[Place.allowed] === 1;
    const explanation = explain(lane.algorithm, lane.terms, row, world.numbers.cost);
    const at = formatMoment(world.history.atUs(request), run.settings.traffic === 'own');
    const pod = laneIndex === LOCAL ? ` · ${fill(words.podName, { n: world.history.pod(request) + 1 })}` : '';
    return [
      h('header', {},
        h('h2', {}, h('span', { class: `verdict ${allowed ? 'yes' : 'no'}` }, verdictOf(words, row)),
          fill(words.whyTitle, { n: formatNumber(request), at })),
        h('p', { class: 'muted' },
          `${words.whyLane}: ${this.nameOf(laneIndex)}${pod} · ${fill(words.whyCost, { n: formatNumber(world.numbers.cost) })}`),
        this.buttons(request)),
      this.formula(explanation, lane.algorithm, allowed),
      this.answer(row, allowed, lane.terms.tickUs),
    ];
  }

  private buttons(request: number): HTMLElement {
    const { words } = this;
    const { history } = this.run.world;
    const to = (goal: number) => this.choose(Math.max(history.first, Math.min(history.count, goal)));
    const button = (name: string, label: string, sign: string, clicked: () => void) =>
      h('button', { type: 'button', 'data-do': name, 'aria-label': label, title: label, onclick: clicked }, sign);
    return h('div', { class: 'row' }, button('earlier', words.previousRequest, '←', () => to(request - 1)),
      button('later', words.nextRequest, '→', () => to(request + 1)),
      button('close', words.close, '×', () => this.choose(null)));
  }

  private formula(explanation: Explanation, algorithm: Algorithm, allowed: boolean): HTMLElement {
    const { words } = this;
    const { kind, formula, filled, left, right, symbols } = explanation;
    if (kind === 'peek') return h('p', { class: 'formula' }, words.whyPeek);
    if (kind === 'never') return h('p', { class: 'formula' }, words.whyNever);
    return h('div', { class: 'formula' },
      h('p', { class: 'symbols' }, formula),
      h('p', { class: 'filled' }, filled),
      h('p', { class: 'sides', 'data-left': left, 'data-right': right },
        `${plain(left)} ${allowed ? '≤' : '>'} ${plain(right)} `,
        h('span', { class: 'muted' }, allowed ? words.formulaHolds : words.formulaFails)),
      h('dl', { class: 'meanings' }, ...symbols.map(([symbol, value]) =>
        h('div', {}, h('dt', {}, h('var', {}, symbol), ` = ${plain(value)}`), h('dd', {}, meaningOf(words, algorithm, symbol))))));
  }

  private answer(row: Float64Array, allowed: boolean, tickUs: number): HTMLElement {
    const { words } = this;
    const number = (place: number) => row[place] ?? 0;
    const retryUs = number(Place.retryAfterUs);
    const retry = retryUs < 0 ? words.never : formatSpan(retryUs);
    const span = (place: number) => formatSpan(number(place));
    const items: [name: keyof typeof Place, text: string][] = [['remaining', formatNumber(number(Place.remaining))]];
    if (!allowed) items.push(['retryAfterUs', retry]);
    if (number(Place.delayUs) > 0) items.push(['delayUs', span(Place.delayUs)]);
    items.push(['moreAfterUs', span(Place.moreAfterUs)], ['resetAfterUs', span(Place.resetAfterUs)]);
    const labels: Readonly<Record<string, string>> = { remaining: words.remaining, retryAfterUs: words.retryAfter,
      delayUs: words.delay, moreAfterUs: words.moreAfter, resetAfterUs: words.resetAfter };
    const tick = formatSpan(tickUs);
    return h('div', { class: 'answer' }, h('h3', {}, words.answered),
      h('dl', { class: 'readouts' }, ...items.map(([name, text]) => h('div', {}, h('dt', {}, labels[name]),
        h('dd', { 'data-answer': name, 'data-value': number(Place[name]) }, text)))),
      h('p', { class: 'muted' }, fill(words.tickNote, { tick }),
        !allowed && retryUs > 0 ? ` ${fill(words.retryNote, { tick })}` : null));
  }
}
