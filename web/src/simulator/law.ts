// The law, as sim/law.c compiles it: an instance of the module for each key. Nothing here decides anything.

export const ALGORITHMS = [
  'token-bucket',
  'leaky-bucket',
  'fixed-window',
  'sliding-window-counter',
  'sliding-window-log',
] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export const isBucket = (algorithm: Algorithm): boolean => algorithm.endsWith('bucket');

export interface Rule {
  algorithm: Algorithm;
  limit: number;
  periodUs: number;
  burst: number; // of the two buckets; the others have none
}

/** The places of a check's numbers, in sim/law.c's order. Waits are microseconds, `retryAfterUs` -1 for never. */
export const Place = {
  allowed: 0,
  remaining: 1,
  retryAfterUs: 2,
  moreAfterUs: 3,
  resetAfterUs: 4,
  delayUs: 5,
  now: 6, // ticks
  used: 7, // buckets: units against the capacity; windows: tokens of this one; log: tokens of the last period
  previous: 8, // tokens of the window before
  elapsed: 9, // ticks into the window
} as const;
export const PLACES = 10;

export interface Terms {
  limit: number;
  period: number; // ticks
  tickUs: number;
  capacity: number;
}

interface Module {
  memory: WebAssembly.Memory;
  begin(algorithm: number, limit: number, periodUs: number, burst: number): number;
  check(nowUs: number, cost: number): void;
  numbers_at(): number;
  terms_at(): number;
  state_bytes(): number;
  nearest_period(periodUs: number): number;
}

/** One key under one rule. */
export class Key {
  readonly terms: Terms;

  constructor(
    private readonly module: Module,
    readonly rule: Rule,
  ) {
    const algorithm = ALGORITHMS.indexOf(rule.algorithm);
    const error = module.begin(algorithm, rule.limit, rule.periodUs, isBucket(rule.algorithm) ? rule.burst : 0);
    if (error !== 0) throw new Error(`the law refuses the rule (${error})`);
    const [limit = 0, period = 0, tickUs = 0, capacity = 0] = new Float64Array(module.memory.buffer, module.terms_at(), 4);
    this.terms = { limit, period, tickUs, capacity };
    this.numbers = new Float64Array(module.memory.buffer, module.numbers_at(), PLACES);
  }

  /** What the last check found and answered; overwritten by the next. */
  readonly numbers: Float64Array;

  /** Decides and charges. A cost of 0 peeks: it answers and changes nothing. */
  check(nowUs: number, cost: number): Float64Array {
    this.module.check(nowUs, cost);
    return this.numbers;
  }

  get stateBytes(): number {
    return this.module.state_bytes();
  }
}

/** Makes keys, and takes their instances back: a browser has room for some, not for one a restart. */
export class Law {
  private readonly idle: Module[] = [];
  private readonly used: Module[] = [];

  constructor(private readonly compiled: WebAssembly.Module) {}

  static async load(url: string): Promise<Law> {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
    return new Law(await WebAssembly.compile(await answer.arrayBuffer()));
  }

  /** From here on no key that was made before may be used. */
  forget(): void {
    this.idle.push(...this.used.splice(0));
  }

  key(rule: Rule): Key {
    const module = this.take();
    this.used.push(module);
    return new Key(module, rule);
  }

  /** The period nearest to this one that a tick divides: the same, where it is a good one. */
  nearestPeriodUs(periodUs: number): number {
    const module = this.take();
    this.idle.push(module);
    return module.nearest_period(periodUs);
  }

  private take(): Module {
    return this.idle.pop() ?? (new WebAssembly.Instance(this.compiled).exports as unknown as Module);
  }
}
