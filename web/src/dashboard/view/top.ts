// Who is refused most.
import { h, say } from '../../dom';
import { formatClock, formatNumber } from '../../format';
import { fill, type Words } from '../../words';
import type { Refused } from '../api';
import type { Board } from '../board';
import { card, cell, Meter, type Row, Table } from './parts';

const ROWS_MOST = 20;

class TopRow implements Row {
  readonly element: HTMLElement;
  private readonly meter: Meter;
  private readonly count = h('b', { 'data-count': 'denied' });
  private readonly over = h('small', {});
  private readonly last = h('span', {});

  constructor(
    private readonly words: Words,
    private readonly find: () => { entry: Refused | undefined; most: number },
    known: boolean, // a rule that a key can be looked up in
    lookUp: (rule: string, key: string) => void,
  ) {
    const { entry } = find();
    const { rule = '', key = '', masked = false, cut = false } = entry ?? {};
    this.meter = new Meter(words.refusals);
    const text = `${key}${cut && !masked ? '…' : ''}`;
    const name = masked || cut || !known
      ? h('code', { title: masked ? words.maskedHint : cut ? words.cutHint : undefined }, text)
      : h('button', { type: 'button', class: 'link', title: words.lookUp, onclick: () => lookUp(rule, key) }, h('code', {}, text));
    this.element = h('tr', { role: 'row', 'data-top': key },
      h('th', { role: 'rowheader', scope: 'row', class: 'rule' }, name,
        h('span', { class: 'about-rule' }, rule, masked ? h('span', { class: 'mark-of' }, words.markMasked) : null)),
      cell('number', words.refusals, this.count, this.over),
      cell('share', '', this.meter.element),
      cell('number', words.lastRefusal, this.last));
  }

  update(): void {
    const { entry, most } = this.find();
    if (!entry) return;
    say(this.count, formatNumber(entry.denied));
    say(this.over, entry.over > 0 ? fill(this.words.overBy, { n: formatNumber(entry.over) }) : '');
    say(this.last, formatClock(entry.last_ms));
    this.meter.update(entry.denied / most, formatNumber(entry.denied));
    this.meter.element.setAttribute('data-accent', 'refused');
  }
}

export class Top {
  readonly element: HTMLElement;
  private readonly table: Table;
  private readonly note = h('p', { class: 'hint' });
  private found = new Map<string, Refused>();
  private most = 1;

  constructor(
    private readonly board: Board,
    private readonly words: Words,
    private readonly lookUp: (rule: string, key: string) => void,
  ) {
    this.table = new Table(words.topHeading,
      [['rule', words.key], ['number', words.refusals], ['share', ''], ['number', words.lastRefusal]]);
    this.element = card('top', words.topHeading, h('p', { class: 'hint' }, words.topHelp), this.table.element, this.note);
    new IntersectionObserver((entries) => board.showTop(entries.some((entry) => entry.isIntersecting)), { rootMargin: '200px' })
      .observe(this.element);
  }

  update(): void {
    const { board, words, note } = this;
    const { filter, top } = board;
    const entries = (top.is ?? []).filter(({ rule }) => filter === null || rule === filter).slice(0, ROWS_MOST);
    const known = (rule: string) => board.ruleOf(rule) !== undefined;
    this.found = new Map(entries.map((entry) => [`${known(entry.rule)} ${entry.rule} ${entry.key}`, entry]));
    this.most = entries[0]?.denied ?? 1;
    this.table.update([...this.found.keys()], (id) =>
      new TopRow(words, () => ({ entry: this.found.get(id), most: this.most }), known(this.found.get(id)?.rule ?? ''), this.lookUp));
    say(note, top.wrong || (top.is && entries.length === 0 ? words.nobodyRefused : ''));
    note.hidden = note.textContent === '';
    this.table.element.hidden = entries.length === 0;
  }
}
