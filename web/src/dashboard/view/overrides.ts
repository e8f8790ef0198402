// The overrides in force, and their end.
import { h, say } from '../../dom';
import { formatClock, formatNumber } from '../../format';
import { fill, type Words } from '../../words';
import { deleteOverride, type Name, type Override } from '../api';
import type { Board } from '../board';
import { card, cell, type Row, Table } from './parts';
import { formatLeft } from './watched';

const ROWS_MOST = 100;

class OverrideRow implements Row {
  readonly element: HTMLElement;
  private readonly limit = h('b', { 'data-count': 'limit' });
  private readonly left = h('span', { 'data-count': 'left' });
  private readonly at = h('small', {});
  private readonly take: HTMLButtonElement;

  constructor(
    private readonly words: Words,
    private readonly find: () => Override | undefined,
    private readonly nameOf: (override: Override) => Name | null,
    takeAway: (name: Name) => void,
  ) {
    const { rule = '', key = '', masked = false } = find() ?? {};
    this.take = h('button', {
      type: 'button', class: 'small', 'data-do': 'take-away', 'aria-label': fill(words.takeAwayOf, { key }),
      onclick: () => {
        const override = find();
        const name = override && nameOf(override);
        if (name) takeAway(name);
      },
    }, words.takeAway);
    this.element = h('tr', { role: 'row', 'data-override': key },
      h('th', { role: 'rowheader', scope: 'row', class: 'rule' }, h('code', {}, key),
        h('span', { class: 'about-rule' }, rule, masked ? h('span', { class: 'mark-of' }, words.markMasked) : null)),
      cell('number', words.limit, this.limit), cell('number', words.endsIn, this.left, this.at), cell('act', '', this.take));
  }

  update(): void {
    const override = this.find();
    if (!override) return;
    const { limit, burst, expires_ms } = override;
    const more = burst !== null && burst !== limit ? fill(this.words.burstOf, { n: formatNumber(burst) }) : '';
    say(this.limit, `${formatNumber(limit)}${more}`);
    say(this.left, formatLeft(expires_ms));
    say(this.at, formatClock(expires_ms));
    const known = this.nameOf(override) !== null;
    this.take.disabled = !known;
    this.take.title = known ? '' : this.words.maskedTake;
  }
}

export class Overrides {
  readonly element: HTMLElement;
  private readonly table: Table;
  private readonly note = h('p', { class: 'hint', role: 'status' });
  private found = new Map<string, Override>();
  private wrong = '';

  constructor(
    private readonly board: Board,
    private readonly words: Words,
  ) {
    this.table = new Table(words.overridesHeading, [['rule', words.key], ['number', words.limit], ['number', words.endsIn], ['act', '']]);
    this.element = card('overrides', words.overridesHeading, this.table.element, this.note);
  }

  update(): void {
    const { board, words, note } = this;
    const { filter, overrides } = board;
    const nowMs = Date.now();
    const all = (overrides.is ?? []).filter(({ rule, expires_ms }) => (filter === null || rule === filter) && expires_ms > nowMs);
    const shown = all.sort((a, b) => a.expires_ms - b.expires_ms).slice(0, ROWS_MOST);
    this.found = new Map(shown.map((override) => [`${override.rule} ${override.key}`, override]));
    this.table.update([...this.found.keys()], (id) => new OverrideRow(words, () => this.found.get(id), (override) => this.nameOf(override),
      (name) => void this.takeAway(name)));
    this.table.element.hidden = shown.length === 0;
    const more = all.length - shown.length;
    say(note, this.wrong || overrides.wrong || (more > 0 ? fill(words.moreOverrides, { n: formatNumber(more) })
      : overrides.is && shown.length === 0 ? words.noOverride : ''));
  }

  /** What the door calls it: of a masked one only who looked it up knows. */
  private nameOf({ rule, key, masked }: Override): Name | null {
    return masked ? (this.board.watch.find(rule, key)?.name ?? null) : { rule, key, group: '' };
  }

  private async takeAway(name: Name): Promise<void> {
    this.wrong = '';
    await deleteOverride(name).catch((error: unknown) => (this.wrong = error instanceof Error ? error.message : String(error)));
    this.board.readOverrides();
    const { watch } = this.board;
    const meant = watch.keys.filter((watched) => watched.name.rule === name.rule && watched.name.key === name.key);
    await Promise.all(meant.map((watched) => watch.look(watched)));
  }
}
