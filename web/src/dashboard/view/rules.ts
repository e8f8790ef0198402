// The rules, what they limit to, and how their checks come out.
import { h, say } from '../../dom';
import { formatNumber, formatRate, formatShare } from '../../format';
import { fill, type Words } from '../../words';
import type { Rule } from '../api';
import type { Board } from '../board';
import { Flow } from '../history';
import { cell, Meter, type Row, Table } from './parts';
import { Spark } from './spark';

const ROWS_MOST = 100;
const ORDERS = ['configured', 'busiest', 'refused'] as const;
type Order = (typeof ORDERS)[number];

/** "10 in 1m, burst 20" */
export function limitText(words: Words, rule: Rule): string {
  const burst = rule.burst !== null && rule.burst !== rule.limit ? fill(words.burstOf, { n: formatNumber(rule.burst) }) : '';
  return `${fill(words.limitOf, { limit: formatNumber(rule.limit), per: rule.per })}${burst}`;
}

class RuleRow implements Row {
  readonly element: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly about = h('span', { class: 'about-rule' });
  private readonly spark = new Spark();
  private drawn = '';
  private readonly places: Readonly<Record<'admitted' | 'refused' | 'share' | 'sumAdmitted' | 'sumRefused' | 'shadow', HTMLElement>>;
  private readonly meter: Meter;

  constructor(
    private readonly board: Board,
    private readonly words: Words,
    private readonly name: string,
    private readonly span: () => number,
    filter: (rule: string | null) => void,
  ) {
    const place = (what: string, tag: 'span' | 'b' = 'span') => h(tag, { 'data-rule-count': what });
    this.places = {
      admitted: place('rateAdmitted', 'b'), refused: place('rateRefused', 'b'), share: place('share'),
      sumAdmitted: place('admitted'), sumRefused: place('refused'), shadow: h('span', { class: 'would', 'data-rule-count': 'shadow' }),
    };
    this.meter = new Meter(words.refusedShare);
    this.button = h('button', { type: 'button', class: 'link', onclick: () => filter(board.filter === name ? null : name) }, name);
    const { places } = this;
    this.element = h('tr', { role: 'row', 'data-rule': name },
      h('th', { role: 'rowheader', scope: 'row', class: 'rule' }, this.button, this.about),
      cell('recent', words.recently, this.spark.element),
      cell('number', words.admitted, places.admitted, h('small', {}, places.sumAdmitted)),
      cell('number', words.refused, places.refused, h('small', {}, places.sumRefused), places.shadow),
      cell('share', words.refusedShare, this.meter.element, places.share));
  }

  update(): void {
    const { board, words, name, places } = this;
    const rule = board.ruleOf(name);
    const counts = board.status?.rules.find((told) => told.name === name);
    const rates = board.history.rates(name);
    this.button.setAttribute('aria-pressed', String(board.filter === name));
    this.describe(rule);
    say(places.admitted, fill(words.perSecond, { n: formatRate(rates.admitted) }));
    say(places.refused, fill(words.perSecond, { n: formatRate(rates.refused) }));
    const sums = counts ?? rule?.counts;
    say(places.sumAdmitted, sums ? formatNumber(sums.allowed + sums.shadow_denied) : '');
    say(places.sumRefused, sums ? formatNumber(sums.denied) : '');
    places.shadow.hidden = !rule?.shadow && !sums?.shadow_denied;
    say(places.shadow, fill(words.wouldRefuseRate, { n: formatRate(rates.shadow), sum: formatNumber(sums?.shadow_denied ?? 0) }));
    const refused = rule?.shadow ? rates.shadow : rates.refused;
    const share = refused / (rates.admitted + rates.refused);
    say(places.share, Number.isFinite(share) ? formatShare(share) : '–');
    this.meter.update(share, Number.isFinite(share) ? formatShare(share) : '–');
    this.meter.element.setAttribute('data-accent', rule?.shadow ? 'shadow' : 'refused');
    this.draw();
  }

  private describe(rule: Rule | undefined): void {
    const { words, about } = this;
    if (!rule) return;
    const marks = [rule.shadow && words.markShadow, rule.mode === 'exact' && words.markExact, rule.secret && words.markSecret];
    const text = `${words[rule.algorithm]} · ${limitText(words, rule)}`;
    const key = `${text}${marks.join()}`;
    if (about.getAttribute('data-text') === key) return;
    about.setAttribute('data-text', key);
    about.setAttribute('data-accent', rule.algorithm);
    about.replaceChildren(h('i', { class: 'dot', 'aria-hidden': 'true' }), text,
      ...marks.filter((mark) => mark !== false).map((mark) => h('span', { class: 'mark-of' }, mark)));
  }

  private draw(): void {
    const { board } = this;
    const drawn = `${board.status?.now_ms} ${this.span()}`;
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    const ring = board.history.flows(this.name);
    const admitted = ring.column(Flow.admitted);
    const refused = ring.column(Flow.refused);
    const total = admitted.map((value, i) => (value === null ? null : value + (refused[i] ?? 0)));
    const most = Math.max(1, ...total.map((value) => value ?? 0));
    this.spark.update(ring.times(), [{ accent: 'refused', values: total }, { accent: 'admitted', values: admitted }],
      (board.status?.now_ms ?? 0) / 1000, this.span(), most);
  }
}

export class Rules {
  readonly element: HTMLElement;
  private readonly table: Table;
  private readonly note = h('p', { class: 'hint' });
  private readonly search: HTMLInputElement;
  private readonly order: HTMLSelectElement;
  private readonly row: (name: string) => Row;

  constructor(
    private readonly board: Board,
    private readonly words: Words,
    span: () => number,
    filter: (rule: string | null) => void,
    changed: () => void,
  ) {
    this.search = h('input', { id: 'field-find-rule', type: 'search', autocomplete: 'off', spellcheck: 'false',
      'aria-label': words.findRule, placeholder: words.findRule, oninput: changed });
    this.order = h('select', { id: 'field-order', 'aria-label': words.order, onchange: changed },
      ...ORDERS.map((order) => h('option', { value: order }, words[`order-${order}`])));
    this.table = new Table(words.rules, [['rule', words.rule], ['recent', words.recently],
      ['number', words.admitted], ['number', words.refused], ['share', words.refusedShare]]);
    this.row = (name) => new RuleRow(board, words, name, span, filter);
    this.element = h('section', { class: 'card rules', 'aria-labelledby': 'rules-title' },
      h('div', { class: 'row spread' },
        h('div', {}, h('h2', { id: 'rules-title' }, words.rules), h('p', { class: 'hint' }, words.rulesHelp)),
        h('div', { class: 'row tools' }, this.search, this.order)),
      this.table.element, this.note);
  }

  update(): void {
    const { board, words, note } = this;
    const names = this.names();
    this.table.update(names.slice(0, ROWS_MOST), this.row);
    const more = names.length - ROWS_MOST;
    say(note, board.rules.wrong || (more > 0 ? fill(words.moreRules, { n: formatNumber(more) }) : names.length === 0 ? words.noRule : ''));
    note.hidden = note.textContent === '';
  }

  private names(): readonly string[] {
    const { board } = this;
    const wanted = this.search.value.trim().toLowerCase();
    const found = board.ruleNames.filter((name) => name.toLowerCase().includes(wanted));
    // Of thousands those are shown first of which there is something to tell.
    const live = new Set(board.status?.rules.map(({ name }) => name));
    const first = () => [...found.filter((name) => live.has(name)), ...found.filter((name) => !live.has(name))];
    return this.sorted(found.length > ROWS_MOST ? first() : found, this.order.value as Order);
  }

  private sorted(names: readonly string[], order: Order): readonly string[] {
    if (order === 'configured') return names;
    const { history } = this.board;
    const weight = new Map(names.map((name) => {
      const { admitted, refused, shadow } = history.rates(name);
      return [name, order === 'busiest' ? admitted + refused : refused + shadow];
    }));
    return [...names].sort((a, b) => (weight.get(b) || 0) - (weight.get(a) || 0));
  }
}
