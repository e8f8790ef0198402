// A key looked up, and those that are watched since.
import { h, say } from '../../dom';
import { formatNumber } from '../../format';
import { Field } from '../../view/field';
import { fill, type Words } from '../../words';
import type { Board } from '../board';
import { type Watched, WATCHED_MOST } from '../watch';
import { Choice, Form } from './form';
import { card } from './parts';
import { WatchedCard } from './watched';

export class Keys {
  readonly element: HTMLElement;
  private readonly rule: Choice;
  private readonly key: Field;
  private readonly group: Field;
  private readonly form: Form;
  private readonly list = h('div', { class: 'watched-list' });
  private readonly note = h('p', { class: 'hint', role: 'status' });
  private readonly cards = new Map<Watched, WatchedCard>();

  constructor(
    private readonly board: Board,
    private readonly words: Words,
  ) {
    this.rule = new Choice('lookup-rule', words.rule, words.lookUpRuleHint, () => this.update());
    this.key = new Field({ name: 'lookup-key', label: words.key, hint: words.lookUpKeyHint, numeric: false });
    this.group = new Field({ name: 'lookup-group', label: words.group, hint: words.groupHint, numeric: false });
    this.form = new Form({
      name: 'lookup',
      fields: { rule: this.rule, key: this.key, group: this.group },
      buttons: [h('button', { class: 'primary', 'data-do': 'look-up' }, words.lookUp)],
      send: async () => {
        const group = this.needsGroup ? this.group.value : '';
        const watched = await board.watch.add({ rule: this.rule.value, key: this.key.value, group });
        this.update();
        this.cards.get(watched)?.element.scrollIntoView({ block: 'nearest' });
      },
    });
    this.element = card('keys', words.keysHeading, h('p', { class: 'hint' }, words.keysHelp), this.form.element, this.note, this.list);
  }

  /** The rule that is looked at now is the one whose keys are meant. */
  filter(rule: string | null): void {
    if (rule !== null) this.rule.value = rule;
  }

  /** Looks one up as if somebody had typed it. */
  lookUp(rule: string, key: string): void {
    this.rule.value = rule;
    this.key.value = key;
    this.update();
    this.form.element.scrollIntoView({ block: 'nearest' });
    if (this.needsGroup) this.group.focus();
    else this.form.element.requestSubmit();
  }

  update(): void {
    const { board, words } = this;
    const { keys, dropped } = board.watch;
    this.rule.offer(board.ruleNames);
    this.group.visible = this.needsGroup;
    this.key.hint = this.keyHint();
    say(this.note, dropped ? fill(words.dropped, { most: formatNumber(WATCHED_MOST), key: dropped.key.key }) : '');
    for (const [watched, shown] of this.cards) {
      if (keys.includes(watched)) continue;
      shown.element.remove();
      this.cards.delete(watched);
    }
    keys.forEach((watched, i) => {
      const shown = this.cards.get(watched) ?? new WatchedCard(board, words, watched);
      this.cards.set(watched, shown);
      if (this.list.children[i] !== shown.element) this.list.insertBefore(shown.element, this.list.children[i] ?? null);
      shown.update();
    });
  }

  private get needsGroup(): boolean {
    return (this.board.ruleOf(this.rule.value)?.group.length ?? 0) > 0;
  }

  private keyHint(): string {
    const rule = this.board.ruleOf(this.rule.value);
    return rule ? fill(this.words.keyParts, { parts: rule.key.join(', ') }) : this.words.lookUpKeyHint;
  }
}
