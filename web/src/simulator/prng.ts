// xorshift128 (Marsaglia, "Xorshift RNGs", 2003): four words of 32 bits, seeded by a splitmix32 so that neighbouring seeds
// have nothing in common. The same seed gives the same traffic in every browser.

export class Random {
  private readonly words = new Uint32Array(4);

  constructor(seed: number) {
    let state = seed >>> 0;
    for (let i = 0; i < 4; i++) {
      state = (state + 0x9e3779b9) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
      this.words[i] = mixed ^ (mixed >>> 15);
    }
    if (this.words.every((word) => word === 0)) this.words[0] = 1; // the one state that never leaves itself
  }

  next(): number {
    const [x = 0, y = 0, z = 0, w = 0] = this.words;
    const mixed = x ^ (x << 11);
    this.words.set([y, z, w, w ^ (w >>> 19) ^ mixed ^ (mixed >>> 8)]);
    return this.words[3] ?? 0;
  }

  /** 0 to below 1. */
  fraction(): number {
    return this.next() / 2 ** 32;
  }

  /** 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.fraction() * bound);
  }
}
