import assert from 'node:assert/strict';
import test from 'node:test';
import { type Arrival, type Plan, startOf, Traffic, type TrafficKind } from '../../web/src/simulator/traffic';

const SECOND_US = 1_000_000;

function planOf(kind: TrafficKind, changes: Partial<Plan> = {}): Plan {
  return { kind, rate: 2, pods: 4, seed: 1, limit: 10, cost: 1, periodUs: 10 * SECOND_US, own: new Float64Array(0), ...changes };
}

function arrivals(plan: Plan, most: number): Arrival[] {
  const traffic = new Traffic(plan);
  const taken: Arrival[] = [];
  for (let next = traffic.take(); next && taken.length < most; next = traffic.take()) taken.push(next);
  return taken;
}

const times = (plan: Plan, most = 100): number[] => arrivals(plan, most).map(({ atUs }) => atUs);
const rateOf = (all: number[]): number => (all.length / (all.at(-1) ?? 1)) * SECOND_US;

test('steady traffic comes at even distances', () => {
  assert.deepEqual(times(planOf('steady'), 4), [500_000, 1_000_000, 1_500_000, 2_000_000]);
  assert.deepEqual(times(planOf('steady', { rate: 3 }), 4), [333_333, 666_666, 1_000_000, 1_333_333]); // no error adds up
});

test('random traffic keeps its rate on average, and its gaps are as wide as they are long', () => {
  const all = times(planOf('poisson'), 20_000);
  assert.ok(Math.abs(rateOf(all) - 2) < 0.06, String(rateOf(all)));
  const gaps = all.map((at, i) => at - (all[i - 1] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
  assert.ok(Math.abs(deviation / mean - 1) < 0.05, String(deviation / mean));
});

test('a bot comes in sprees of at most fifteen at ten times its rate, and keeps the rate on average', () => {
  const all = times(planOf('bot'), 20_000);
  assert.ok(Math.abs(rateOf(all) - 2) < 0.1, String(rateOf(all)));
  const near = all.map((at, i) => at - (all[i - 1] ?? 0) <= 50_001);
  const part = near.filter(Boolean).length / near.length;
  assert.ok(part > 0.8, String(part)); // of a spree all but the first
});

test('a bot reaches every pod alike, and how many there are changes no time', () => {
  const counts = [0, 0, 0, 0];
  for (const { pod } of arrivals(planOf('bot'), 8000)) counts[pod] = (counts[pod] ?? 0) + 1;
  for (const count of counts) assert.ok(Math.abs(count - 2000) < 200, counts.join());
  assert.deepEqual(times(planOf('bot', { pods: 16 })), times(planOf('bot')));
  assert.ok(arrivals(planOf('bot', { pods: 1 }), 100).every(({ pod }) => pod === 0));
});

test('the boundary burst is the limit before an edge and the limit after it, every four periods', () => {
  const all = times(planOf('edge'), 40);
  const [first, second] = [all.slice(0, 20), all.slice(20)];
  assert.equal(first.filter((at) => at >= 9_800_000 && at < 10_000_000).length, 10);
  assert.equal(first.filter((at) => at >= 10_000_000 && at < 10_200_000).length, 10);
  assert.deepEqual(second, first.map((at) => at + 4 * 10_000_000));
  const hour = times(planOf('edge', { periodUs: 3600 * SECOND_US }), 20);
  assert.ok((hour[19] ?? 0) - (hour[0] ?? 0) < 2 * SECOND_US); // within two seconds, however long the period is
  assert.equal(startOf(planOf('edge')), 8_500_000);
  assert.equal(times(planOf('edge', { cost: 3 }), 40).filter((at) => at < 10_000_000).length, 3); // as many as the limit takes
});

test('own times come as they are and then no more', () => {
  const own = Float64Array.from([5_000_000, 5_000_000, 7_000_001]);
  assert.deepEqual(times(planOf('own', { own })), [...own]);
  assert.equal(startOf(planOf('own', { own })), 4_500_000);
  assert.deepEqual(times(planOf('none')), []);
});

test('the same seed gives the same traffic and another seed another', () => {
  for (const kind of ['poisson', 'bot'] as const) {
    assert.deepEqual(arrivals(planOf(kind), 100), arrivals(planOf(kind), 100));
    assert.notDeepEqual(times(planOf(kind)), times(planOf(kind, { seed: 2 })));
  }
});

test('times are whole and never fall', () => {
  for (const kind of ['steady', 'poisson', 'bot', 'edge'] as const) {
    for (const rate of [0.001, 7, 1000]) {
      const all = times(planOf(kind, { rate, periodUs: 1000 }), 2000);
      assert.ok(all.every((at, i) => Number.isSafeInteger(at) && at >= (all[i - 1] ?? 0)), `${kind} ${rate}`);
    }
  }
});
