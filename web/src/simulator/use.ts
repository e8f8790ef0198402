// A rule as people take it along: for laju.yaml, and as a descriptor for a rate limit service behind Envoy.
import { formatDuration } from '../duration';
import { isBucket } from './law';
import type { Settings } from './settings';

const NAME = 'api';

export function asYaml({ algorithm, limit, periodUs, burst, cost }: Settings): string {
  const lines = [
    'rules:',
    `  - name: ${NAME}`,
    `    algorithm: ${algorithm}`,
    `    limit: ${limit}`,
    `    per: ${formatDuration(periodUs)}`,
  ];
  if (isBucket(algorithm) && burst !== limit) lines.push(`    burst: ${burst}`);
  if (cost !== 1) lines.push(`    cost: ${cost}`);
  return lines.join('\n') + '\n';
}

const ENVOY_UNITS: Readonly<Record<number, string>> = {
  1_000_000: 'second',
  60_000_000: 'minute',
  3_600_000_000: 'hour',
  86_400_000_000: 'day',
};

/** `noUnit` says, in the reader's language, that Envoy has no unit for this period. */
export function asEnvoy({ limit, periodUs, cost }: Settings, noUnit: string): string {
  const unit = ENVOY_UNITS[periodUs];
  const rate = unit ? [`        rate_limit: {unit: ${unit}, requests_per_unit: ${limit}}`] : [`        # ${noUnit}`];
  const addend = cost === 1 ? [] : [`    hits_addend: {number: ${cost}}`];
  return [
    'rate_limits:',
    '  - actions:',
    '      - generic_key:',
    '          descriptor_key: rule',
    `          descriptor_value: ${NAME}`,
    '      - remote_address: {}',
    ...addend,
    '---',
    'domain: laju',
    'descriptors:',
    '  - key: rule',
    `    value: ${NAME}`,
    '    descriptors:',
    '      - key: remote_address',
    ...rate,
  ].join('\n') + '\n';
}
