import assert from 'node:assert/strict';
import test from 'node:test';
import type { Status, StoreStatus } from '../../web/src/dashboard/api';
import { alertsOf } from '../../web/src/dashboard/health';
import { Beat, Flow, History, KEPT_S } from '../../web/src/dashboard/history';
import { Ring } from '../../web/src/dashboard/ring';

const STORE: StoreStatus = {
  url: 'redis://r:6379', up: true, why: '', last_error: '', workers: 2, workers_up: 2, servers: 2, servers_up: 2, inflight: 0, checks: 0, commands: 0,
  failures: { timeout: 0, overflow: 0, breaker: 0, refused: 0, other: 0 }, breaker_opened: 0, connects: 2, connect_failures: 0,
  fallbacks_allowed: 0, fallbacks_denied: 0, remembered: 0, given_back: 0,
  latency: { window_s: 5, count: 9, p50_us: 300, p99_us: 900 }, nodes: 1, versions: [{ version: '1', count: 1 }],
};

/** What a laju tells at that second, of so many checks of one rule. */
function status(atS: number, allowed: number, denied = 0, more: Partial<Status> = {}): Status {
  const counts = { allowed, denied, shadow_denied: 0, error: 0 };
  return {
    version: '1', now_ms: atS * 1000, started_ms: 1000, stage: 'serving', workers: 2, requests: {}, checks: counts, rule_count: 1,
    rules: [{ name: 'api', ...counts }], latency: { window_s: 5, count: 1, p50_us: 10, p99_us: 20 },
    connections: { open: 1, accepted: 1, refused: 0, closed: {} },
    table: { slots: 100, keys: 1, evicted_fresh: 0, evicted_used: 0, logs_bytes: 0, logs_used_bytes: 0, logs_evicted_fresh: 0, logs_evicted_used: 0 },
    reloads: { done: 0, refused: 0 }, overrides: 0, store: null, ...more,
  };
}

test('a full ring loses its oldest row for each new one', () => {
  const ring = new Ring(1, 3);
  for (const at of [1, 2, 3, 4, 5]) ring.push(at, [at * 10]);
  assert.deepEqual([ring.times(), ring.column(0)], [[3, 4, 5], [30, 40, 50]]);
  ring.push(6, [Number.NaN]);
  assert.deepEqual(ring.column(0), [40, 50, null]);
  assert.equal(ring.mean(0, 3), 45); // of what is known
  ring.forget(5);
  assert.deepEqual([ring.firstS, ring.lastS, ring.count], [5, 6, 2]);
});

test('a rate is what a counter rose by, over the time between', () => {
  const history = new History();
  history.take(status(100, 1000, 50));
  assert.ok(Number.isNaN(history.rates(null).admitted)); // one word makes no rate
  history.take(status(102, 1300, 60));
  assert.deepEqual([history.rates(null).admitted, history.rates(null).refused], [150, 5]);
  history.take(status(102, 9999)); // the same moment told twice
  assert.deepEqual(history.flows('api').column(Flow.admitted), [150]);
  assert.deepEqual(history.flows('nobody').times(), []);
  assert.deepEqual(history.beats.column(Beat.p99), [20, 20]);
});

test('what a rule in shadow would have refused was admitted', () => {
  const history = new History();
  const told = (atS: number, allowed: number, shadow: number) =>
    history.take(status(atS, 0, 0, { checks: { allowed, denied: 0, shadow_denied: shadow, error: 0 } }));
  told(10, 0, 0);
  told(11, 4, 3);
  assert.deepEqual(history.rates(null), { admitted: 7, refused: 0, shadow: 3, error: 0 });
});

test('no rate is made of a silence, nor of two processes', () => {
  const history = new History();
  history.take(status(100, 10));
  history.take(status(101, 20));
  history.take(status(131, 500)); // half a minute unheard
  history.take(status(132, 501));
  history.take(status(133, 3, 0, { started_ms: 132_500 })); // started anew
  history.take(status(134, 5, 0, { started_ms: 132_500 }));
  assert.deepEqual(history.flows(null).column(Flow.admitted), [10, null, 1, null, 2]);
});

test('ten minutes are kept', () => {
  const history = new History();
  for (let second = 0; second <= 2 * KEPT_S; second++) history.take(status(1000 + second, second));
  assert.equal(history.flows(null).firstS, 1000 + KEPT_S);
  assert.equal(history.beats.firstS, 1000 + KEPT_S);
  assert.equal(history.ageS, KEPT_S);
});

test('what is wrong is told while it is, the worst first', () => {
  const history = new History();
  const kinds = (told: Status) => {
    history.take(told);
    return alertsOf(told, history).map(({ kind }) => kind);
  };
  const store = (more: Partial<StoreStatus>) => ({ store: { ...STORE, ...more } });
  assert.deepEqual(kinds(status(0, 0)), []);
  assert.deepEqual(kinds(status(1, 0, 0, store({}))), []);
  assert.deepEqual(kinds(status(2, 0, 0, store({ failures: { ...STORE.failures, timeout: 4, refused: 1 } }))), ['storeSlow', 'storeRefuses']);
  assert.deepEqual(kinds(status(30, 0, 0, store({ failures: { ...STORE.failures, timeout: 4, refused: 1 } }))), []); // long ago
  assert.deepEqual(kinds(status(31, 0, 0, store({ up: false, workers_up: 1 }))), ['storePartly']);
  const [partly] = alertsOf(status(31, 0, 0, store({ up: false, workers: 3, workers_up: 2 })), new History());
  assert.equal(partly?.kind === 'storePartly' && partly.of, 3); // the admin door's is one of them
  const versions = [{ version: '1', count: 1 }, { version: '2', count: 3 }];
  assert.deepEqual(kinds(status(32, 0, 0, { stage: 'draining', ...store({ up: false, workers_up: 0, versions }) })), ['draining', 'storeDown', 'versions']);
  const full = { table: { ...status(0, 0).table, evicted_used: 7 }, connections: { open: 9, accepted: 9, refused: 2, closed: {} } };
  assert.deepEqual(kinds(status(33, 0, 0, full)), ['evicting', 'crowded']);
});
