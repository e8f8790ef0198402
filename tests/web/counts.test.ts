import assert from 'node:assert/strict';
import test from 'node:test';
import { History, HISTORY_MOST } from '../../web/src/simulator/history';
import { PLACES } from '../../web/src/simulator/law';
import { Random } from '../../web/src/simulator/prng';
import { Worst } from '../../web/src/simulator/worst';

test('the fullest window is found as by looking at all of them', () => {
  const random = new Random(5);
  const seen: [number, number][] = [];
  const worst = new Worst(1000);
  for (let at = 0, i = 0; i < 2000; i++) {
    at += random.below(4) * random.below(60);
    const tokens = 1 + random.below(3);
    seen.push([at, tokens]);
    worst.add(at, tokens);
    const held = seen.reduce((sum, [other, count]) => sum + (other > at - 1000 ? count : 0), 0);
    assert.equal(worst.at(at), held);
    assert.ok(worst.most >= held);
  }
  const most = Math.max(...seen.map(([to]) => seen.reduce((sum, [at, n]) => sum + (at > to - 1000 && at <= to ? n : 0), 0)));
  assert.equal(worst.most, most);
  assert.ok(worst.mostAtUs - worst.mostFromUs < 1000);
});

test('the last requests are kept and found by their time', () => {
  const history = new History(1);
  assert.equal(history.since(0), 1);
  const row = new Float64Array(PLACES);
  for (let i = 1; i <= HISTORY_MOST + 100; i++) {
    history.add(10 * i, i % 7);
    row[3] = i;
    history.note(0, row);
  }
  assert.equal(history.first, 101);
  assert.equal(history.since(0), 101);
  assert.equal(history.since(5000), 500);
  assert.equal(history.since(5001), 501);
  assert.equal(history.since(1e9), history.count + 1);
  assert.deepEqual([history.atUs(600), history.pod(600), history.number(0, 600, 3)], [6000, 600 % 7, 600]);
});
