// Checks at a fixed rate through whatever stands at URL, for so many keys that each of them meets its limit. The run fails where
// more or fewer were admitted than the limits allow, where the 99th percentile is above P99_MS, or where one of NODES had no part.
import http from 'k6/http';
import exec from 'k6/execution';
import { Counter } from 'k6/metrics';

const url = __ENV.URL;
const keys = Number(__ENV.KEYS);
const limit = Number(__ENV.LIMIT);
const nodes = __ENV.NODES.split(',');

const admitted = new Counter('admitted');
const refused = new Counter('refused');
const answered = new Counter('answered');

export const options = {
  scenarios: {
    checks: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE),
      timeUnit: '1s',
      duration: __ENV.DURATION,
      preAllocatedVUs: 100,
      maxVUs: 400,
    },
  },
  thresholds: {
    admitted: [`count==${keys * limit}`],
    refused: ['count>0'],
    http_req_failed: ['rate==0'],
    http_req_duration: [`p(99)<${__ENV.P99_MS}`],
    ...Object.fromEntries(nodes.map((node) => [`answered{node:${node}}`, ['count>0']])),
  },
  summaryTrendStats: ['med', 'p(90)', 'p(99)', 'p(99.9)', 'max'],
};

http.setResponseCallback(http.expectedStatuses(200, 429));

export default function () {
  const key = `user:${exec.scenario.iterationInTest % keys}`;
  const reply = http.post(url, JSON.stringify({ rule: 'api', key }), { headers: { 'Content-Type': 'application/json' } });
  (reply.status === 200 ? admitted : refused).add(1);
  answered.add(1, { node: reply.headers['X-Node'] });
}
