// Ten minutes of what a laju told of itself. Its counters only rise; here they are rates, from what they rose by.
import type { Counts, Status } from './api';
import { Ring } from './ring';

export const KEPT_S = 600;
const ROWS_MOST = KEPT_S + 60; // one a second, and those that mark a gap
const GAP_S = 5; // silence that a line must not be drawn across
const RECENT_S = 10; // a rate that is read as a number is the mean of so much
const RULES_MOST = 200; // remembered, of the hundred at most that are told each time

export enum Flow {
  admitted,
  refused,
  shadow, // of the admitted: what a rule in shadow would have refused
  error,
}
export enum Beat {
  p50,
  p99,
  storeP50,
  storeP99,
}
export enum Trouble {
  timeouts,
  refusals, // errors that a store which is up answers with
  fallbacksAllowed,
  fallbacksDenied,
  evictedUsed,
  accepted, // connections
  turnedAway, // the same beyond the limit
}

export type Rates = Readonly<Record<keyof typeof Flow, number>>;

const numbersOf = ({ allowed, denied, shadow_denied, error }: Counts): number[] =>
  [allowed + shadow_denied, denied, shadow_denied, error];

const troublesOf = ({ store, connections, table }: Status): number[] => [
  store?.failures.timeout ?? 0,
  store?.failures.refused ?? 0,
  store?.fallbacks_allowed ?? 0,
  store?.fallbacks_denied ?? 0,
  table.evicted_used + table.logs_evicted_used,
  connections.accepted,
  connections.refused,
];

/** Counters, and what they rose by a second. */
class Risen {
  readonly ring: Ring;
  private last: readonly number[] | null = null;
  private lastS = 0;

  constructor(columns: number) {
    this.ring = new Ring(columns, ROWS_MOST);
  }

  /** `anew`: they began at zero again since the last. */
  take(atS: number, counters: readonly number[], anew: boolean): void {
    const { last, lastS } = this;
    const spanS = atS - lastS;
    if (last && spanS <= 0) return;
    this.last = counters;
    this.lastS = atS;
    this.ring.forget(atS - KEPT_S);
    if (!last) return;
    const known = !anew && spanS <= GAP_S;
    this.ring.push(atS, counters.map((counter, i) => (known ? (counter - (last[i] ?? 0)) / spanS : Number.NaN)));
  }

  recent(which: number): number {
    return this.ring.mean(which, this.lastS - RECENT_S);
  }
}

export class History {
  readonly beats = new Ring(4, ROWS_MOST);
  private readonly all = new Risen(4);
  private readonly troubles = new Risen(7);
  private readonly rules = new Map<string, Risen>();
  private startedMs = 0;

  take(status: Status): void {
    const anew = status.started_ms !== this.startedMs;
    const atS = status.now_ms / 1000;
    this.startedMs = status.started_ms;
    this.all.take(atS, numbersOf(status.checks), anew);
    this.troubles.take(atS, troublesOf(status), anew);
    for (const rule of status.rules) this.ruleOf(rule.name).take(atS, numbersOf(rule), anew);
    this.takeBeats(atS, status);
  }

  /** For how long there is something to show. */
  get ageS(): number {
    const { ring } = this.all;
    return ring.lastS - ring.firstS || 0;
  }

  flows(rule: string | null): Ring {
    return (rule === null ? this.all : this.rules.get(rule))?.ring ?? EMPTY;
  }

  /** Checks a second, lately; NaN where that is not known yet. */
  rates(rule: string | null): Rates {
    const risen = rule === null ? this.all : this.rules.get(rule);
    const rate = (flow: Flow) => risen?.recent(flow) ?? Number.NaN;
    return { admitted: rate(Flow.admitted), refused: rate(Flow.refused), shadow: rate(Flow.shadow), error: rate(Flow.error) };
  }

  trouble(which: Trouble): number {
    return this.troubles.recent(which);
  }

  private ruleOf(name: string): Risen {
    const known = this.rules.get(name) ?? new Risen(4);
    this.rules.delete(name); // and behind all others: the first is who was not told of for longest
    this.rules.set(name, known);
    const [oldest] = this.rules.keys();
    if (this.rules.size > RULES_MOST && oldest !== undefined) this.rules.delete(oldest);
    return known;
  }

  private takeBeats(atS: number, { latency, store }: Status): void {
    const known = (of: { count: number } | undefined, us: number | undefined) => (of && of.count > 0 && us ? us : Number.NaN);
    const { lastS } = this.beats;
    if (atS <= lastS) return;
    if (atS - lastS > GAP_S) this.beats.push((atS + lastS) / 2, [Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
    this.beats.push(atS, [known(latency, latency.p50_us), known(latency, latency.p99_us),
      known(store?.latency, store?.latency.p50_us), known(store?.latency, store?.latency.p99_us)]);
    this.beats.forget(atS - KEPT_S);
  }
}

const EMPTY = new Ring(4, 1);
