// A run: one traffic, through all five algorithms at once, in virtual time.
import { History } from './history';
import { ALGORITHMS, type Algorithm, type Key, type Law, Place, type Terms } from './law';
import { type Plan, startOf, Traffic } from './traffic';
import { Worst } from './worst';

export const SENT_MOST = 1_000_000; // times kept of a run, for who wants to take them along

export interface Numbers {
  limit: number;
  burst: number;
  periodUs: number;
  cost: number;
}

/** One stream of decisions and what became of it. */
export class Lane {
  admitted = 0;
  refused = 0;
  readonly worst: Worst;
  readonly leaving: Worst; // as they leave: later than they came in a leaky bucket only

  /** `keys`: one that all pods share, or one for each. */
  constructor(
    readonly algorithm: Algorithm,
    readonly keys: readonly Key[],
    periodUs: number,
  ) {
    this.worst = new Worst(periodUs);
    this.leaving = new Worst(periodUs);
  }

  keyOf(pod: number): Key {
    return this.keys[pod % this.keys.length] as Key;
  }

  get terms(): Terms {
    return this.keyOf(0).terms;
  }

  decide(atUs: number, pod: number, cost: number): Float64Array {
    const numbers = this.keyOf(pod).check(atUs, cost);
    if (numbers[Place.allowed] === 1) {
      const tickUs = (numbers[Place.now] ?? 0) * this.terms.tickUs; // what is promised is promised in ticks
      this.admitted++;
      this.worst.add(tickUs, cost);
      this.leaving.add(tickUs + (numbers[Place.delayUs] ?? 0), cost);
    } else {
      this.refused++;
    }
    return numbers;
  }

  get stateBytes(): number {
    return this.keys.reduce((sum, key) => sum + key.stateBytes, 0);
  }
}

/** The lane of limiters that each pod has for itself, behind those of ALGORITHMS. */
export const LOCAL = ALGORITHMS.length;

export class World {
  nowUs: number;
  readonly lanes: readonly Lane[];
  readonly history: History;
  private readonly traffic: Traffic;
  private sent = new Float64Array(1024);

  /** `local`: the algorithm of which each pod has a limiter of its own, or null. */
  constructor(
    law: Law,
    readonly numbers: Numbers,
    readonly plan: Plan,
    local: Algorithm | null,
  ) {
    law.forget();
    const rule = (algorithm: Algorithm) => ({ algorithm, ...numbers });
    const lanes = ALGORITHMS.map((algorithm) => new Lane(algorithm, [law.key(rule(algorithm))], numbers.periodUs));
    if (local) {
      const keys = Array.from({ length: plan.pods }, () => law.key(rule(local)));
      lanes.push(new Lane(local, keys, numbers.periodUs));
    }
    this.lanes = lanes;
    this.history = new History(lanes.length);
    this.traffic = new Traffic(plan);
    this.nowUs = startOf(plan);
  }

  lane(index: number): Lane {
    return this.lanes[index] as Lane;
  }

  /** When the next request comes by itself; null where none will. */
  get nextUs(): number | null {
    return this.traffic.peek?.atUs ?? null;
  }

  /** Lets time pass up to `toUs`, or until `most` requests have come. Returns how many came. */
  advance(toUs: number, most: number): number {
    let came = 0;
    for (let next = this.traffic.peek; next && next.atUs <= toUs; next = this.traffic.peek) {
      if (came === most) return came;
      this.traffic.take();
      this.nowUs = next.atUs;
      this.request(next.atUs, next.pod);
      came++;
    }
    this.nowUs = Math.max(this.nowUs, Math.floor(toUs));
    return came;
  }

  /** Requests by hand, all now. */
  send(count: number): void {
    for (let i = 0; i < count; i++) this.request(this.nowUs, this.traffic.anyPod());
  }

  /** The times of the run's requests, as far as they are kept. */
  get times(): Float64Array {
    return this.sent.subarray(0, Math.min(this.history.count, SENT_MOST));
  }

  private request(atUs: number, pod: number): void {
    const count = this.history.count;
    if (count === this.sent.length && count < SENT_MOST) {
      const larger = new Float64Array(Math.min(2 * count, SENT_MOST));
      larger.set(this.sent);
      this.sent = larger;
    }
    if (count < SENT_MOST) this.sent[count] = atUs;
    this.history.add(atUs, pod);
    this.lanes.forEach((lane, index) => this.history.note(index, lane.decide(atUs, pod, this.numbers.cost)));
  }
}
