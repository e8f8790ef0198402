import assert from 'node:assert/strict';
import test from 'node:test';
import { CLIENTS_MOST, LINE_CHARS_MOST, OWN_LINES_MOST, OwnTraffic, parseLine, SAMPLES_MOST } from '../../web/src/simulator/own';

const AT_US = Date.UTC(2025, 9, 10, 13, 55, 36) * 1000;

test('a line tells its time in any of the ways there are', () => {
  const same = [
    '203.0.113.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 12',
    '203.0.113.7 - a b [10/Oct/2025:06:25:36 -0730] "GET /[x] HTTP/1.1" 200 12 "-" "curl"',
    '2025-10-10T13:55:36Z', '2025-10-10 13:55:36', '2025-10-10T20:55:36+07:00', '2025-10-10T13:55:36.000000999Z',
    '1760104536', '1760104536.000', '1760104536000', '1760104536000000', '1760104536000000000',
    '{"msg": "}", "ts": 1760104536.0}', '{"time_local": "10/Oct/2025:15:55:36 +0200"}', '{"request": {"msec": "1760104536.000"}}',
    '  1760104536\r',
  ];
  for (const line of same) assert.equal(parseLine(line)?.atUs, AT_US, line);
  assert.equal(parseLine('2025-10-10T13:55:36,25Z')?.atUs, AT_US + 250_000);
  assert.equal(parseLine(same[0] ?? '')?.client, '203.0.113.7');
  assert.equal(parseLine('1760104536')?.client, '');
  assert.equal(parseLine('100000000000000000')?.atUs, 1e14); // nanoseconds, of 1973
});

test('a line that tells none is none', () => {
  const bad = [
    'x', '-1', '1e9', '2025-02-30T00:00:00Z', '2025-10-10T24:00:00Z', '2025-10-10', '99999999999999999999',
    '203.0.113.7 - - [10/Okt/2025:13:55:36 +0000] "GET /"', '203.0.113.7 - - [31/Feb/2025:13:55:36 +0000] "GET /"',
    '1965-01-01T00:00:00Z', '{"ts": 1', '{"ts": null}', '{"ts": [1]}', '{"when": 1}', '{}', `{"ts": 1, "x": "${'x'.repeat(LINE_CHARS_MOST)}"}`,
  ];
  for (const line of bad) assert.equal(parseLine(line), null, line);
});

test('JSON and CSV name their fields as servers do', () => {
  const read = (text: string) => {
    const traffic = new OwnTraffic();
    traffic.feed(text);
    traffic.end();
    return [[...traffic.timesOf(null)].map((us) => us / 1e6), traffic.busiest(), traffic.lines, traffic.samples];
  };
  assert.deepEqual(read('{"ts":2,"request":{"remote_ip":"::1"}}\n{"timestamp":"1","ts":9,"ip":"::1"}\n{"ts"\n'),
    [[1, 2], [{ client: '::1', count: 2 }], 3, ['{"ts"']]);
  assert.deepEqual(read('"a;b";time;ip\r\n"""; ";1;x\r\n;2;"x"\r\nonly\r\n'), [[1, 2], [{ client: 'x', count: 2 }], 3, ['only']]);
  assert.deepEqual(read('status,@timestamp\n200,1970-01-01T00:00:07Z\n'), [[7], [], 1, []]);
  assert.deepEqual(read('"ip" , "ts"\n x , 8 \n"x" , "9" \n'), [[8, 9], [{ client: 'x', count: 2 }], 2, []]);
  assert.deepEqual(read('ip\ttime_local\n\nx\t01/Jan/1970:00:00:05 +0000'), [[5], [{ client: 'x', count: 1 }], 1, []]);
  assert.deepEqual(read('1\ntime,ip\n2\n'), [[1, 2], [], 3, ['time,ip']]); // only a first line names columns
});

test('a line without an end is no more than its beginning', () => {
  const traffic = new OwnTraffic();
  traffic.feed('x - - [10/Oct/2025:13:55:36 +0000] '); // it would tell a time, were it not so long
  for (let i = 0; i < 5; i++) traffic.feed('1'.repeat(LINE_CHARS_MOST / 2));
  traffic.feed('\n7\n');
  assert.deepEqual([...traffic.timesOf(null)], [7e6]);
  assert.deepEqual([traffic.lines, traffic.bad], [2, 1]);
});

test('pieces may end anywhere', () => {
  const text = '3\n\n1\nbad\n2';
  for (let cut = 0; cut <= text.length; cut++) {
    const traffic = new OwnTraffic();
    traffic.feed(text.slice(0, cut));
    traffic.feed(text.slice(cut));
    traffic.end();
    assert.deepEqual([...traffic.timesOf(null)], [1e6, 2e6, 3e6]);
    assert.deepEqual([traffic.lines, traffic.bad, traffic.samples], [4, 1, ['bad']]);
  }
});

test('what is kept is bounded', () => {
  const traffic = new OwnTraffic();
  const clients = Array.from({ length: CLIENTS_MOST + 5 }, (_, i) => `c${i} - - [10/Oct/2025:13:55:36 +0000] ""\n`);
  traffic.feed(clients.join('') + 'c3 - - [10/Oct/2025:13:55:36 +0000] ""\n' + `${'y'.repeat(500)}\n`.repeat(SAMPLES_MOST + 1));
  assert.equal(traffic.busiest().length, CLIENTS_MOST);
  assert.deepEqual(traffic.busiest()[0], { client: 'c3', count: 2 });
  assert.equal(traffic.samples.length, SAMPLES_MOST);
  assert.equal(traffic.samples[0]?.length, 120);
  assert.equal(traffic.timesOf('c3').length, 2);
  traffic.feed('7\n'.repeat(OWN_LINES_MOST));
  assert.equal(traffic.lines, OWN_LINES_MOST);
  assert.equal(traffic.full, true);
});
