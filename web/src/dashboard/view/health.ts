// What laju stands on: the shared store, its memory, its connections. And, above all else, what is wrong.
import { h, say } from '../../dom';
import { formatBytes, formatNumber, formatRate, formatShare, formatSpan } from '../../format';
import { fill, type Words } from '../../words';
import type { Status, StoreStatus } from '../api';
import type { Board } from '../board';
import { type Alert, alertsOf } from '../health';
import { Trouble } from '../history';
import { card, cell, Facts, Meter, type Row, Table } from './parts';

function textOf(words: Words, alert: Alert): string {
  const rate = (n: number) => formatRate(n);
  switch (alert.kind) {
    case 'starting': return words.alertStarting;
    case 'draining': return words.alertDraining;
    case 'storeDown': return fill(words.alertStoreDown,
      { why: alert.why || words.notKnown, allowed: rate(alert.allowed), denied: rate(alert.denied) });
    case 'storePartly': return fill(words.alertStorePartly, { why: alert.why || words.notKnown, up: alert.up, of: alert.of });
    case 'storeSlow': return fill(words.alertStoreSlow, { n: rate(alert.timeouts) });
    case 'storeRefuses': return fill(words.alertStoreRefuses,
      { why: alert.why || words.notKnown, n: rate(alert.checks), allowed: rate(alert.allowed), denied: rate(alert.denied) });
    case 'versions': return fill(words.alertVersions, { versions: alert.versions });
    case 'evicting': return fill(words.alertEvicting, { n: rate(alert.keys) });
    case 'crowded': return fill(words.alertCrowded, { n: rate(alert.connections) });
  }
}

export class Alerts {
  readonly element = h('ul', { class: 'alerts', role: 'status' });
  private kinds = '';

  constructor(
    private readonly board: Board,
    private readonly words: Words,
  ) {}

  /** Numbers in a text that stays change in silence: a reader would else read it aloud each second. */
  update(): void {
    const { board, words, element } = this;
    const alerts = board.status ? alertsOf(board.status, board.history) : [];
    const kinds = alerts.map(({ kind }) => kind).join();
    if (kinds !== this.kinds) {
      this.kinds = kinds;
      element.replaceChildren(...alerts.map((alert) => h('li', { 'data-alert': alert.kind }, textOf(words, alert))));
    }
    alerts.forEach((alert, i) => {
      const item = element.children[i];
      if (item) say(item, textOf(words, alert));
    });
  }
}

export class StoreCard {
  readonly element: HTMLElement;
  private readonly state = h('p', { class: 'state', role: 'status' });
  private readonly why = h('p', { class: 'hint' });
  private readonly facts = new Facts();

  constructor(
    private readonly board: Board,
    private readonly words: Words,
  ) {
    this.element = card('store', words.store, this.state, this.why, this.facts.element);
  }

  update(): void {
    const { board, words, state, why } = this;
    const store = board.status?.store ?? null;
    const how = !store ? 'none' : store.up ? 'up' : store.workers_up > 0 ? 'partly' : 'down';
    state.setAttribute('data-state', how);
    say(state, words[`store-${how}`]);
    say(why, !store ? words.storeNone : store.up ? store.url : `${store.url}: ${store.why || words.notKnown}`);
    this.facts.element.hidden = !store;
    if (store) this.tell(store);
  }

  private tell(store: StoreStatus): void {
    const { words, facts, board } = this;
    const { history } = board;
    const number = (n: number) => formatNumber(n);
    const closed = store.servers_up === store.servers;
    facts.show('workers', words.workersUp, fill(words.nOf, { n: store.workers_up, of: store.workers }), !store.up);
    const open = fill(words.breakerOpen, { n: store.servers - store.servers_up, of: store.servers });
    facts.show('breaker', words.breaker, closed ? words.breakerClosed : open, !closed);
    facts.show('opened', words.breakerOpened, number(store.breaker_opened));
    facts.show('inflight', words.inflight, number(store.inflight));
    facts.show('timeouts', words.timeouts, number(store.failures.timeout), history.trouble(Trouble.timeouts) > 0);
    const failures = store.failures.overflow + store.failures.breaker + store.failures.refused + store.failures.other;
    facts.show('failures', words.otherFailures, number(failures));
    facts.show('fallbacksAllowed', words.fallbacksAllowed, number(store.fallbacks_allowed), history.trouble(Trouble.fallbacksAllowed) > 0);
    facts.show('fallbacksDenied', words.fallbacksDenied, number(store.fallbacks_denied), history.trouble(Trouble.fallbacksDenied) > 0);
    facts.show('checks', words.storeChecks, number(store.checks));
    facts.show('remembered', words.remembered, number(store.remembered));
    const connects = { n: number(store.connects), failed: number(store.connect_failures) };
    facts.show('connects', words.connects, fill(words.connectsFailed, connects));
    const versions = store.versions.map(({ version, count }) => `${version} × ${count}`).join(', ');
    const nodes = versions === '' ? number(store.nodes) : `${number(store.nodes)} (${versions})`;
    facts.show('nodes', words.nodes, nodes, store.versions.length > 1);
  }
}

export class MemoryCard {
  readonly element: HTMLElement;
  private readonly keys: Meter;
  private readonly logs: Meter;
  private readonly keysText = h('p', { class: 'left', 'data-fact': 'keys' });
  private readonly logsText = h('p', { class: 'hint' });
  private readonly facts = new Facts();

  constructor(
    private readonly board: Board,
    private readonly words: Words,
  ) {
    this.keys = new Meter(words.tableKeys);
    this.logs = new Meter(words.tableLogs);
    this.element = card('memory', words.memoryHeading,
      this.keysText, this.keys.element, this.logsText, this.logs.element, this.facts.element);
  }

  update(): void {
    const { board, words, facts } = this;
    const { status, history } = board;
    if (!status) return;
    const { table } = status;
    const share = table.slots > 0 ? table.keys / table.slots : 0;
    say(this.keysText, fill(words.keysHeld, { n: formatNumber(table.keys), share: formatShare(share) }));
    this.keys.update(share, formatShare(share));
    const logShare = table.logs_bytes > 0 ? table.logs_used_bytes / table.logs_bytes : 0;
    say(this.logsText, fill(words.logsHeld, { used: formatBytes(table.logs_used_bytes), of: formatBytes(table.logs_bytes) }));
    this.logs.update(logShare, formatShare(logShare));
    facts.show('slots', words.slots, formatNumber(table.slots));
    facts.show('evictedFresh', words.evictedFresh, formatNumber(table.evicted_fresh + table.logs_evicted_fresh));
    const used = formatNumber(table.evicted_used + table.logs_evicted_used);
    facts.show('evictedUsed', words.evictedUsed, used, history.trouble(Trouble.evictedUsed) > 0);
  }
}

const OUTCOMES = ['allowed', 'denied', 'error'] as const;

class DoorRow implements Row {
  readonly element: HTMLElement;
  private readonly counts = OUTCOMES.map((outcome) => h('span', { 'data-count': outcome }));

  constructor(
    private readonly board: Board,
    words: Words,
    private readonly door: string,
  ) {
    const labels = [words.admitted, words.refused, words.errors];
    this.element = h('tr', { role: 'row', 'data-door': door }, h('th', { role: 'rowheader', scope: 'row' }, door.toUpperCase()),
      ...this.counts.map((count, i) => cell('number', labels[i] ?? '', count)));
  }

  update(): void {
    const counts = this.board.status?.requests[this.door];
    this.counts.forEach((place, i) => say(place, formatNumber(counts?.[OUTCOMES[i] ?? 'error'] ?? 0)));
  }
}

export class DoorsCard {
  readonly element: HTMLElement;
  private readonly open = h('p', { class: 'left', 'data-fact': 'open' });
  private readonly facts = new Facts();
  private readonly table: Table;

  constructor(
    private readonly board: Board,
    private readonly words: Words,
  ) {
    this.table = new Table(words.requests,
      [['', words.requests], ['number', words.admitted], ['number', words.refused], ['number', words.errors]]);
    this.element = card('doors', words.doors, this.open, this.table.element, this.facts.element);
  }

  update(): void {
    const { board, words, facts } = this;
    const { status, history } = board;
    if (!status) return;
    const { connections, requests, reloads } = status;
    const closed = Object.entries(connections.closed).filter(([, n]) => n > 0).map(([why, n]) => `${why} ${formatNumber(n)}`).join(', ');
    say(this.open, fill(words.connectionsOpen, { n: formatNumber(connections.open) }));
    facts.show('accepted', words.newConnections, fill(words.perSecond, { n: formatRate(history.trouble(Trouble.accepted)) }));
    facts.show('turnedAway', words.turnedAway, formatNumber(connections.refused), history.trouble(Trouble.turnedAway) > 0);
    facts.show('closed', words.closedByUs, closed === '' ? '0' : closed);
    this.table.update(Object.keys(requests), (door) => new DoorRow(board, words, door));
    const read = { done: formatNumber(reloads.done), refused: formatNumber(reloads.refused) };
    facts.show('reloads', words.reloads, fill(words.reloadsOf, read), reloads.refused > 0);
  }
}

/** "laju 0.1.0 · up 3 h 20 min · 2 workers" */
export function factsOf(words: Words, status: Status): string {
  const up = formatSpan(Math.max(0, Math.floor((status.now_ms - status.started_ms) / 1000)) * 1_000_000);
  return [`laju ${status.version}`, fill(words.upFor, { up }), fill(words.workersCount, { n: formatNumber(status.workers) })].join(' · ');
}
