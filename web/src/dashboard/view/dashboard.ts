// The dashboard: what one laju does now, and what can be done about a key.
import { h, say } from '../../dom';
import { formatClock } from '../../format';
import { type Palette, readPalette } from '../../view/surface';
import { fill, type Words } from '../../words';
import { logout } from '../api';
import { Board } from '../board';
import { Alerts, DoorsCard, factsOf, MemoryCard, StoreCard } from './health';
import { Keys } from './keys';
import { fittingSpan, Latencies, Overview, SPAN_S } from './overview';
import { Overrides } from './overrides';
import type { Part } from './parts';
import { Rules } from './rules';
import { TokenCard } from './token';
import { Top } from './top';

const TOGETHER_MS = 150;

export class Dashboard {
  readonly element = h('div', { class: 'dashboard' });
  private readonly board: Board;
  private palette: Palette = readPalette();
  private words: Words;
  private spanS = SPAN_S;
  private shown = false;
  private waiting = 0; // the timer until what has changed is shown
  private drawing = 0; // the frame that was asked for
  private keys: Keys | null = null;
  private token: TokenCard | null = null;
  private parts: Part[] = [];
  private readonly state = h('span', { class: 'state', role: 'status' });
  private readonly heard = h('span', { class: 'hint' });
  private readonly facts = h('span', { class: 'hint', 'data-fact': 'laju' });
  private readonly leave = h('button', { type: 'button', class: 'small', 'data-do': 'sign-out', onclick: () => void this.signOut() });
  private readonly refusal = h('p', { class: 'error', role: 'alert' });
  private readonly body = h('div', { class: 'body' });

  /** `keep`: what of the view the address holds. */
  constructor(
    query: URLSearchParams,
    words: Words,
    private readonly keep: (query: string) => void,
  ) {
    this.words = words;
    this.board = new Board(query.get('rule'), () => this.drawSoon());
    document.addEventListener('visibilitychange', () => this.turn());
    this.render(words);
  }

  /** Is it the view that is shown? Only then, and while somebody looks, it asks laju for anything. */
  show(shown: boolean): void {
    this.shown = shown;
    this.turn();
  }

  adopt(query: URLSearchParams): void {
    this.filter(query.get('rule'));
  }

  repaint(): void {
    this.palette = readPalette();
    this.draw();
  }

  render(words: Words): void {
    this.words = words;
    const { board } = this;
    const filter = (rule: string | null) => this.filter(rule);
    const overview = new Overview(board, words, filter, (seconds) => {
      this.spanS = seconds;
      this.draw();
    });
    const latencies = new Latencies(board, words);
    const rules = new Rules(board, words, () => this.fitting, filter, () => this.draw());
    const keys = new Keys(board, words);
    const top = new Top(board, words, (rule, key) => keys.lookUp(rule, key));
    const [alerts, overrides, store] = [new Alerts(board, words), new Overrides(board, words), new StoreCard(board, words)];
    const [memory, doors] = [new MemoryCard(board, words), new DoorsCard(board, words)];
    const charts: Part[] = [
      { element: overview.element, update: () => overview.update(this.palette, this.spanS, this.fitting) },
      { element: latencies.element, update: () => latencies.update(this.palette, this.fitting) },
    ];
    this.parts = [alerts, ...charts, rules, top, keys, overrides, store, memory, doors];
    this.keys = keys;
    this.token = new TokenCard(words, () => void board.feed.start());
    say(this.leave, words.signOut);
    this.body.replaceChildren(alerts.element,
      h('div', { class: 'wide-and-narrow' }, overview.element, latencies.element), rules.element,
      h('div', { class: 'two' }, h('div', { class: 'stack' }, top.element, overrides.element), keys.element),
      h('div', { class: 'three' }, store.element, memory.element, doors.element));
    this.element.replaceChildren(
      h('header', { class: 'boardhead' }, h('h1', {}, words.dashboard),
        h('p', { class: 'row' }, this.state, this.heard, this.facts), this.leave),
      this.refusal, this.token.element, this.body);
    this.update();
  }

  private get fitting(): number {
    return fittingSpan(this.spanS, this.board.history.ageS);
  }

  private turn(): void {
    if (this.shown && document.visibilityState === 'visible') this.board.start();
    else this.board.stop();
  }

  private filter(rule: string | null): void {
    this.board.filter = rule;
    this.keys?.filter(rule);
    this.keep(rule === null ? '' : new URLSearchParams({ rule }).toString());
    this.draw();
  }

  private async signOut(): Promise<void> {
    const { board } = this;
    board.stop();
    await logout().catch((error: unknown) => say(this.refusal, error instanceof Error ? error.message : String(error)));
    board.forget();
    this.render(this.words);
    this.turn();
  }

  /** Changes come one by one, from a hundred keys some fifty a second: they are shown together. */
  private drawSoon(): void {
    if (this.waiting === 0) this.waiting = window.setTimeout(() => this.draw(), TOGETHER_MS);
  }

  private draw(): void {
    clearTimeout(this.waiting);
    this.waiting = 0;
    if (this.drawing !== 0) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.update();
    });
  }

  private update(): void {
    const { board, words, state } = this;
    const { hearing, heardMs, why, secured } = board.feed;
    const wasLocked = state.getAttribute('data-state') === 'locked';
    state.setAttribute('data-state', hearing);
    say(state, words[`hearing-${hearing}`]);
    say(this.heard, heardMs > 0 ? fill(words.lastWord, { at: formatClock(heardMs) }) : '');
    say(this.facts, board.status ? factsOf(words, board.status) : '');
    say(this.refusal, hearing === 'refused' || hearing === 'lost' ? why || words.unanswered : '');
    this.refusal.hidden = this.refusal.textContent === '';
    this.leave.hidden = !secured || hearing === 'locked';
    const locked = hearing === 'locked';
    if (this.token) this.token.element.hidden = !locked;
    this.body.hidden = locked || board.status === null;
    this.body.classList.toggle('stale', hearing === 'lost');
    if (!this.body.hidden) for (const part of this.parts) part.update();
    if (locked && !wasLocked && this.element.isConnected) this.token?.focus();
  }
}
