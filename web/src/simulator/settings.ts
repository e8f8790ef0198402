// What a run is made of, and how that stands in the page's address, so that a link replays it.
import { formatDuration, parseDuration } from '../duration';
import { ALGORITHMS, type Algorithm, isBucket } from './law';
import { TRAFFIC, type TrafficKind } from './traffic';

export const SHOWS = ['one', 'compare', 'pods'] as const;
export type Show = (typeof SHOWS)[number];

export interface Settings {
  show: Show;
  algorithm: Algorithm;
  limit: number;
  periodUs: number;
  burst: number;
  cost: number;
  traffic: TrafficKind;
  rate: number;
  pods: number;
  seed: number;
  speed: number;
}

export const DEFAULTS: Settings = {
  show: 'one',
  algorithm: 'token-bucket',
  limit: 10,
  periodUs: 10_000_000,
  burst: 10,
  cost: 1,
  traffic: 'poisson',
  rate: 1.5,
  pods: 4,
  seed: 1,
  speed: 1,
};

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 100_000, 1_000_000] as const;
export const SLOW = 0.1;

/** The page's own bounds: the log's limit is everybody's here, since all five run side by side. */
export const BOUNDS = {
  limit: [0, 65_536],
  burst: [1, 65_536],
  cost: [0, 65_536],
  rate: [0.001, 1000],
  pods: [1, 16],
  seed: [0, 4_294_967_295],
} as const;
export type Numeric = keyof typeof BOUNDS;
export const PERIOD_US = [1_000, 366 * 86_400_000_000] as const;

export const isWhole = (field: Numeric): boolean => field !== 'rate';

/** The number that a text stands for, or null where it is none that `field` allows. */
export function parseNumber(field: Numeric, text: string): number | null {
  if (!/^\d{1,12}(\.\d{1,6})?$/.test(text.trim())) return null;
  const value = Number(text);
  const [least, most] = BOUNDS[field];
  return value >= least && value <= most && !(isWhole(field) && !Number.isInteger(value)) ? value : null;
}

/** The speed at which a period takes some seconds: as it is, where it does that by itself. */
export function fittingSpeed(periodUs: number): number {
  const most = periodUs >= 2_000_000 ? Math.max(1, periodUs / 8_000_000) : periodUs / 4_000_000;
  return SPEEDS.filter((speed) => speed <= most).pop() ?? SLOW;
}

function oneOf<T extends string>(allowed: readonly T[], text: string | null, otherwise: T): T {
  return allowed.find((word) => word === text) ?? otherwise;
}

/** `goodPeriodUs`: the nearest that the law takes. What cannot be read is as by default. */
export function fromQuery(query: URLSearchParams, goodPeriodUs: (us: number) => number): Settings {
  const number = (field: Numeric, otherwise: number) => parseNumber(field, query.get(field) ?? '') ?? otherwise;
  const wanted = parseDuration(query.get('per') ?? '') ?? DEFAULTS.periodUs;
  const periodUs = goodPeriodUs(Math.min(Math.max(wanted, PERIOD_US[0]), PERIOD_US[1]));
  const limit = number('limit', DEFAULTS.limit);
  const speed = SPEEDS.find((known) => String(known) === query.get('speed'));
  return {
    show: oneOf(SHOWS, query.get('show'), DEFAULTS.show),
    algorithm: oneOf(ALGORITHMS, query.get('algorithm'), DEFAULTS.algorithm),
    limit,
    periodUs,
    burst: number('burst', Math.max(1, limit)),
    cost: number('cost', DEFAULTS.cost),
    traffic: oneOf(TRAFFIC.filter((kind) => kind !== 'own'), query.get('traffic'), DEFAULTS.traffic),
    rate: number('rate', DEFAULTS.rate),
    pods: number('pods', DEFAULTS.pods),
    seed: number('seed', DEFAULTS.seed),
    speed: speed ?? fittingSpeed(periodUs),
  };
}

/** Everything that a replay takes, also where it is as by default: defaults may change, links should not. */
export function toQuery(settings: Settings): string {
  const { show, algorithm, limit, periodUs, burst, cost, traffic, rate, pods, seed, speed } = settings;
  const all: Record<string, string | number> = { show, algorithm, limit, per: formatDuration(periodUs) };
  if (isBucket(algorithm) || show === 'compare' || burst !== limit) all['burst'] = burst;
  Object.assign(all, { cost, traffic, rate, pods, seed, speed });
  return Object.entries(all)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}
