// The most tokens that any window of one period held, counted as they come: windows are (t - period, t], as in the log's law.

export class Worst {
  most = 0;
  mostFromUs = 0; // the first and the last of them
  mostAtUs = 0;
  private held = 0;
  private times = new Float64Array(64); // a ring: `count` entries from `head`
  private tokens = new Float64Array(64);
  private head = 0;
  private count = 0;

  constructor(private readonly periodUs: number) {}

  /** Times never fall. */
  add(atUs: number, tokens: number): void {
    this.expire(atUs);
    if (this.count === this.times.length) this.grow();
    const slot = (this.head + this.count) & (this.times.length - 1);
    this.times[slot] = atUs;
    this.tokens[slot] = tokens;
    this.count++;
    this.held += tokens;
    if (this.held > this.most) {
      this.most = this.held;
      this.mostFromUs = this.times[this.head] ?? atUs;
      this.mostAtUs = atUs;
    }
  }

  /** Tokens of the period that ends now. */
  at(nowUs: number): number {
    this.expire(nowUs);
    return this.held;
  }

  private expire(nowUs: number): void {
    while (this.count > 0 && (this.times[this.head] ?? 0) <= nowUs - this.periodUs) {
      this.held -= this.tokens[this.head] ?? 0;
      this.head = (this.head + 1) & (this.times.length - 1);
      this.count--;
    }
  }

  private grow(): void {
    const unroll = (ring: Float64Array) => {
      const larger = new Float64Array(2 * ring.length);
      larger.set(ring.subarray(this.head));
      larger.set(ring.subarray(0, this.head), ring.length - this.head);
      return larger;
    };
    this.times = unroll(this.times);
    this.tokens = unroll(this.tokens);
    this.head = 0;
  }
}
