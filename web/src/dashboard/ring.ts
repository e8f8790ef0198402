// Rows of numbers by time, the last ones only: the oldest makes room for the newest.

export class Ring {
  private readonly rows: Float64Array;
  private readonly width: number;
  private begin = 0;
  private held = 0;

  /** Each row is a time and so many numbers. */
  constructor(
    columns: number,
    private readonly capacity: number,
  ) {
    this.width = columns + 1;
    this.rows = new Float64Array(this.width * capacity);
  }

  get count(): number {
    return this.held;
  }

  get firstS(): number {
    return this.held === 0 ? Number.NaN : this.number(0, 0);
  }

  get lastS(): number {
    return this.held === 0 ? Number.NaN : this.number(this.held - 1, 0);
  }

  /** NaN is a number that nobody knows. */
  push(atS: number, numbers: readonly number[]): void {
    if (this.held === this.capacity) this.begin = (this.begin + 1) % this.capacity;
    else this.held++;
    this.rows.set([atS, ...numbers], this.place(this.held - 1));
  }

  forget(beforeS: number): void {
    while (this.held > 0 && this.number(0, 0) < beforeS) {
      this.begin = (this.begin + 1) % this.capacity;
      this.held--;
    }
  }

  times(): number[] {
    return Array.from({ length: this.held }, (_, i) => this.number(i, 0));
  }

  /** null where it is not known. */
  column(which: number): (number | null)[] {
    return Array.from({ length: this.held }, (_, i) => {
      const number = this.number(i, which + 1);
      return Number.isNaN(number) ? null : number;
    });
  }

  /** The mean of what is known since then; NaN where nothing is. */
  mean(which: number, sinceS: number): number {
    let [sum, count] = [0, 0];
    for (let i = this.held - 1; i >= 0 && this.number(i, 0) > sinceS; i--) {
      const number = this.number(i, which + 1);
      if (Number.isNaN(number)) continue;
      sum += number;
      count++;
    }
    return sum / count;
  }

  private place(row: number): number {
    return ((this.begin + row) % this.capacity) * this.width;
  }

  private number(row: number, column: number): number {
    return this.rows[this.place(row) + column] ?? Number.NaN;
  }
}
