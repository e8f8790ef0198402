// The last requests of a run, with all that each lane found and answered: what timelines draw and what `Why` explains.
import { PLACES } from './law';

export const HISTORY_MOST = 8192; // requests kept; a power of two

export class History {
  /** Requests so far. They are numbered from 1; those from `first` on are kept. */
  count = 0;
  private readonly times = new Float64Array(HISTORY_MOST);
  private readonly pods = new Uint8Array(HISTORY_MOST);
  private readonly rows: Float64Array[];

  constructor(lanes: number) {
    this.rows = Array.from({ length: lanes }, () => new Float64Array(HISTORY_MOST * PLACES));
  }

  get first(): number {
    return Math.max(1, this.count - HISTORY_MOST + 1);
  }

  add(atUs: number, pod: number): void {
    const slot = this.count++ & (HISTORY_MOST - 1);
    this.times[slot] = atUs;
    this.pods[slot] = pod;
  }

  /** Of the request added last. */
  note(lane: number, numbers: Float64Array): void {
    this.rows[lane]?.set(numbers, ((this.count - 1) & (HISTORY_MOST - 1)) * PLACES);
  }

  atUs(request: number): number {
    return this.times[(request - 1) & (HISTORY_MOST - 1)] ?? 0;
  }

  pod(request: number): number {
    return this.pods[(request - 1) & (HISTORY_MOST - 1)] ?? 0;
  }

  /** One of the numbers of a request on a lane. */
  number(lane: number, request: number, place: number): number {
    return this.rows[lane]?.[((request - 1) & (HISTORY_MOST - 1)) * PLACES + place] ?? 0;
  }

  row(lane: number, request: number): Float64Array {
    const start = ((request - 1) & (HISTORY_MOST - 1)) * PLACES;
    return this.rows[lane]?.subarray(start, start + PLACES) ?? new Float64Array(PLACES);
  }

  /** The first request kept that came at or after `atUs`; count + 1 where there is none. */
  since(atUs: number): number {
    let low = this.first;
    let high = this.count + 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.atUs(middle) >= atUs) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
