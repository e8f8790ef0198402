import assert from 'node:assert/strict';
import test from 'node:test';
import { formatDuration, parseDuration } from '../../web/src/duration';
import { DEFAULTS, fittingSpeed, fromQuery, parseNumber, type Settings, toQuery } from '../../web/src/simulator/settings';

const adopted = (query: string): Settings => fromQuery(new URLSearchParams(query), (us) => us);

test('settings come back from an address as they went', () => {
  const settings: Settings = { show: 'compare', algorithm: 'leaky-bucket', limit: 7, periodUs: 90_000_000, burst: 9, cost: 2, traffic: 'bot',
    rate: 0.125, pods: 16, seed: 4_294_967_295, speed: 100 };
  assert.deepEqual(adopted(toQuery(settings)), settings);
  const window: Settings = { ...DEFAULTS, algorithm: 'fixed-window', limit: 3, burst: 3 };
  assert.ok(!toQuery(window).includes('burst'));
  assert.deepEqual(adopted(toQuery(window)), window);
});

test('what cannot be read is as by default, and a burst is the limit', () => {
  assert.deepEqual(adopted('limit=-1&per=10&cost=x&pods=17&rate=0&seed=1.5&show=all&algorithm=&speed=3&traffic=own'), DEFAULTS);
  assert.equal(adopted('limit=25').burst, 25);
  assert.equal(adopted('limit=0').burst, 1);
  assert.equal(adopted('per=9999d').periodUs, 366 * 86_400_000_000);
});

test('numbers outside their bounds are none', () => {
  assert.equal(parseNumber('limit', ' 65536 '), 65_536);
  for (const text of ['65537', '-1', '1.5', '', '1e3', '0x10', '١']) assert.equal(parseNumber('limit', text), null, text);
  assert.equal(parseNumber('rate', '0.5'), 0.5);
});

test('durations are whole numbers of a unit', () => {
  for (const text of ['1ms', '90s', '2m', '36h', '5d', '2w']) assert.equal(formatDuration(parseDuration(text) ?? 0), text);
  for (const text of ['', '10', 's', '1.5s', '1 s', '-1s', '1y']) assert.equal(parseDuration(text), null, text);
});

test('a period takes some seconds to watch, whether it is a second or a year', () => {
  for (const text of ['1s', '10s', '1m', '1h', '1d', '1w', '366d']) {
    const seconds = (parseDuration(text) ?? 0) / 1e6 / fittingSpeed(parseDuration(text) ?? 0);
    assert.ok(seconds >= 4 && seconds <= 61, `${text}: ${seconds} s`);
  }
});
