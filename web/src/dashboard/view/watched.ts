// One key that is watched: what it has used, how that went, and what can be done about it.
import { h, say } from '../../dom';
import { formatClock, formatNumber, formatSpan } from '../../format';
import { Field } from '../../view/field';
import { fill, type Words } from '../../words';
import { deleteOverride, putOverride, resetKey } from '../api';
import type { Board } from '../board';
import { KEPT_S } from '../history';
import type { Watched } from '../watch';
import { Form } from './form';
import { fittingSpan } from './overview';
import { Meter } from './parts';
import { Spark } from './spark';

const EXPIRIES = ['10m', '1h', '1d', '7d'];

/** A whole number as a number; anything else as it was typed, for the door to say what is allowed. */
const numberOf = (text: string): number | string => (/^\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : text);

export class WatchedCard {
  readonly element: HTMLElement;
  private readonly spark = new Spark();
  private readonly meter: Meter;
  private readonly left = h('p', { class: 'left' });
  private readonly waits = h('p', { class: 'hint' });
  private readonly note = h('p', { class: 'hint', role: 'status' });
  private readonly override: HTMLElement;
  private readonly overrideText = h('span', { 'data-do': 'override-text' });
  private readonly aside = h('div', { class: 'aside' }); // a question, or the form
  private told = '';
  private readonly buttons: Readonly<Record<'reset' | 'override' | 'close', HTMLButtonElement>>;

  constructor(
    private readonly board: Board,
    private readonly words: Words,
    private readonly watched: Watched,
  ) {
    const { key, name } = watched;
    const button = (name: string, label: string, clicked: () => void) =>
      h('button', { type: 'button', class: 'small', 'data-do': name, onclick: clicked }, label);
    this.meter = new Meter(words.used);
    this.buttons = {
      reset: button('reset', words.reset, () => this.askReset()),
      override: button('override', words.override, () => this.openForm()),
      close: h('button', { type: 'button', class: 'quiet small', 'data-do': 'unwatch', 'aria-label': fill(words.unwatch, { key: key.key }),
        title: fill(words.unwatch, { key: key.key }), onclick: () => board.watch.remove(watched) }, '×'),
    };
    this.override = h('p', { class: 'in-force', hidden: true }, this.overrideText,
      button('take-away', words.takeAway, () => void this.act(async () => {
        await deleteOverride(name);
        this.board.readOverrides();
        return words.takenAway;
      })));
    const accent = board.ruleOf(key.rule)?.algorithm;
    this.element = h('article', { class: 'watched', 'data-key': key.key, 'data-accent': accent },
      h('header', {}, h('h3', {}, h('code', {}, key.key)),
        h('span', { class: 'hint' }, name.group === '' ? key.rule : `${key.rule} · ${fill(words.inGroup, { group: name.group })}`,
          key.masked ? h('span', { class: 'mark-of' }, words.markMasked) : null),
        this.buttons.close),
      this.left, this.meter.element, this.waits, this.spark.element, this.override,
      h('div', { class: 'row' }, this.buttons.reset, this.buttons.override), this.aside, this.note);
  }

  update(): void {
    const { watched, words } = this;
    const { key } = watched;
    const second = key.override ? Math.floor(Date.now() / 1000) : 0; // what runs down is told anew
    const told = `${watched.heardMs} ${watched.wrong} ${second}`;
    if (told === this.told) return;
    this.told = told;
    const used = key.limit - key.remaining;
    this.element.setAttribute('data-remaining', String(key.remaining));
    this.element.setAttribute('data-limit', String(key.limit));
    say(this.left, fill(words.keyLeft, { n: formatNumber(key.remaining), of: formatNumber(key.limit) }));
    this.meter.update(key.limit > 0 ? used / key.limit : 1, fill(words.keyUsed, { n: formatNumber(used), of: formatNumber(key.limit) }));
    say(this.waits, watched.wrong || [
      key.source === 'fallback' ? words.byFallback : '',
      key.more_after_ms > 0 ? fill(words.keyMore, { wait: formatSpan(key.more_after_ms * 1000) }) : '',
      key.reset_after_ms > 0 ? fill(words.keyReset, { wait: formatSpan(key.reset_after_ms * 1000) }) : words.keyFresh,
    ].filter((text) => text !== '').join(' · '));
    this.waits.classList.toggle('error', watched.wrong !== '');
    this.tellOverride();
    const [values, limits] = [watched.used.column(0), watched.used.column(1)];
    const most = Math.max(1, ...limits.map((limit) => limit ?? 0));
    const { used: ring } = watched;
    const spanS = fittingSpan(KEPT_S, ring.lastS - ring.firstS);
    this.spark.update(ring.times(), [{ accent: '', values }], watched.heardMs / 1000, spanS, most);
  }

  private tellOverride(): void {
    const { words, override } = this;
    const numbers = this.watched.key.override;
    override.hidden = numbers === null;
    if (!numbers) return;
    const burst = numbers.burst !== null && numbers.burst !== numbers.limit ? fill(words.burstOf, { n: formatNumber(numbers.burst) }) : '';
    say(this.overrideText, fill(words.overrideInForce,
      { limit: `${formatNumber(numbers.limit)}${burst}`, left: formatLeft(numbers.expires_ms), at: formatClock(numbers.expires_ms) }));
  }

  private askReset(): void {
    const { words, watched } = this;
    const yes = h('button', { type: 'button', class: 'small danger', 'data-do': 'reset-yes', onclick: () => void this.act(async () =>
      ((await resetKey(watched.name)).known ? words.wasReset : words.wasUnknown)) }, words.reset);
    const no = h('button', { type: 'button', class: 'small', 'data-do': 'reset-no', onclick: () => this.shut('reset') }, words.cancel);
    this.open(h('div', { class: 'question', role: 'group', 'aria-label': words.reset },
      h('p', {}, fill(words.resetQuestion, { key: watched.key.key })), h('div', { class: 'row' }, yes, no)), 'reset');
    yes.focus();
  }

  private openForm(): void {
    const { words, watched, board } = this;
    const rule = board.ruleOf(watched.key.rule);
    const bucket = rule ? rule.burst !== null : true;
    const field = (name: string, label: string, hint: string, numeric: boolean, suggestions?: readonly string[]) =>
      new Field({ name: `override-${watched.id}-${name}`, label, hint, numeric, ...(suggestions ? { suggestions } : {}) });
    const usual = rule ? fill(words.overrideLimitHint, { limit: formatNumber(rule.limit), per: rule.per }) : words.limitHint;
    const limit = field('limit', words.limit, usual, true);
    const burst = field('burst', words.burst, words.overrideBurstHint, true);
    const expires = field('expires', words.expiresIn, words.expiresHint, false, EXPIRIES);
    expires.value = '1h';
    const form = new Form({
      name: 'override',
      fields: { limit, ...(bucket ? { burst } : {}), expires_in: expires },
      buttons: [h('button', { class: 'small primary', 'data-do': 'override-set' }, words.setOverride),
        h('button', { type: 'button', class: 'small', 'data-do': 'override-no', onclick: () => this.shut('override') }, words.cancel)],
      send: async () => {
        await putOverride(watched.name, {
          ...(limit.value.trim() === '' ? {} : { limit: numberOf(limit.value) }),
          ...(burst.value.trim() === '' ? {} : { burst: numberOf(burst.value) }),
          expires_in: expires.value.trim(),
        });
        this.board.readOverrides();
        await this.act(() => Promise.resolve(words.wasOverridden), 'override');
      },
    });
    this.open(form.element, 'override');
    limit.focus();
  }

  private open(what: HTMLElement, from: 'reset' | 'override'): void {
    what.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.shut(from);
    });
    this.aside.replaceChildren(what);
    say(this.note, '');
  }

  private shut(from: 'reset' | 'override'): void {
    this.aside.replaceChildren();
    this.buttons[from].focus();
  }

  /** Does it, says how it went, and looks how the key stands now. */
  private async act(what: () => Promise<string>, from: 'reset' | 'override' = 'reset'): Promise<void> {
    try {
      const done = await what();
      this.shut(from);
      say(this.note, done);
    } catch (error) {
      this.shut(from);
      say(this.note, error instanceof Error ? error.message : String(error));
    }
    await this.board.watch.look(this.watched);
  }
}

/** How long until then; the server's clock is believed to go as ours. */
export function formatLeft(untilMs: number): string {
  return formatSpan(Math.max(0, Math.ceil((untilMs - Date.now()) / 1000)) * 1_000_000);
}
