// Who asks when. Pure: the same plan gives the same arrivals, whatever was answered, so that every algorithm can be shown the
// same traffic. Times are whole microseconds and never fall.
import { Random } from './prng';

export const TRAFFIC = ['none', 'steady', 'poisson', 'bot', 'edge', 'own'] as const;
export type TrafficKind = (typeof TRAFFIC)[number];

export interface Plan {
  kind: TrafficKind;
  rate: number; // requests a second, on average
  pods: number; // each request reaches one of them
  seed: number;
  limit: number;
  cost: number;
  periodUs: number;
  own: Float64Array; // times, for kind `own`
}

export interface Arrival {
  atUs: number;
  pod: number;
}

const SECOND_US = 1_000_000;
const SPREE_MOST = 15; // requests of one spree of the bot
const EDGE_PART = 50; // a burst at the edge takes this part of a period, on each side,
const EDGE_MOST_US = SECOND_US; // and never longer
const EDGE_EVERY = 4; // periods: by then all five algorithms have forgotten the last one

/** Where time begins: shortly before something happens. */
export function startOf(plan: Plan): number {
  if (plan.kind === 'edge') return Math.floor(plan.periodUs * 0.85);
  if (plan.kind === 'own') return Math.max(0, Math.floor((plan.own[0] ?? 0) - plan.periodUs / 20));
  return 0;
}

function* steadyTimes(plan: Plan): Generator<number> {
  for (let i = 1; ; i++) yield Math.floor((i * SECOND_US) / plan.rate);
}

const exponential = (random: Random, mean: number): number => -Math.log(1 - random.fraction()) * mean;

function* poissonTimes(plan: Plan, random: Random): Generator<number> {
  for (let at = 0; ; ) {
    at += exponential(random, SECOND_US / plan.rate);
    yield Math.floor(at);
  }
}

/** Sprees of 1 to 15 requests at ten times the rate, with pauses between them that keep the rate on average. */
function* botTimes(plan: Plan, random: Random): Generator<number> {
  const gap = SECOND_US / plan.rate;
  for (let at = 0; ; ) {
    const size = 1 + random.below(SPREE_MOST);
    at += exponential(random, gap * size * 0.9);
    for (let i = 0; i < size; i++) {
      at += gap / 10;
      yield Math.floor(at);
    }
  }
}

/** As many as the limit takes just before a window's edge, and as many just after it. */
function* edgeTimes(plan: Plan): Generator<number> {
  const lead = Math.max(1, Math.min(EDGE_MOST_US, Math.floor(plan.periodUs / EDGE_PART)));
  const count = Math.max(1, Math.floor(plan.limit / Math.max(1, plan.cost)));
  for (let edge = plan.periodUs; ; edge += EDGE_EVERY * plan.periodUs) {
    for (let i = 0; i < count; i++) yield edge - lead + Math.floor((i * lead) / count);
    for (let i = 0; i < count; i++) yield edge + Math.floor((i * lead) / count);
  }
}

function timesOf(plan: Plan, random: Random): Iterable<number> {
  switch (plan.kind) {
    case 'none':
      return [];
    case 'steady':
      return steadyTimes(plan);
    case 'poisson':
      return poissonTimes(plan, random);
    case 'bot':
      return botTimes(plan, random);
    case 'edge':
      return edgeTimes(plan);
    case 'own':
      return plan.own;
  }
}

/** The arrivals of a plan, one by one; `peek` is the next that `take` gives, null at the end. */
export class Traffic {
  private readonly times: Iterator<number>;
  private readonly pods: Random; // apart from the times, so that the number of pods changes no time
  private ahead: Arrival | null;

  constructor(private readonly plan: Plan) {
    this.times = timesOf(plan, new Random(plan.seed))[Symbol.iterator]();
    this.pods = new Random(plan.seed ^ 0x5bd1e995);
    this.ahead = this.draw();
  }

  get peek(): Arrival | null {
    return this.ahead;
  }

  take(): Arrival | null {
    const taken = this.ahead;
    this.ahead = this.draw();
    return taken;
  }

  /** Which pod a request reaches that somebody sends by hand. */
  anyPod(): number {
    return this.pods.below(this.plan.pods);
  }

  private draw(): Arrival | null {
    const { value, done } = this.times.next();
    return done ? null : { atUs: value, pod: this.anyPod() };
  }
}
