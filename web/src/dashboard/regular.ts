// Something that is done again and again, and never twice at once.

export class Regular {
  private timer = 0;
  private turn = 0;

  /** `alive` turns false when it has been stopped meanwhile. The task deals with its own errors. */
  constructor(
    private readonly everyMs: number,
    private readonly task: (alive: () => boolean) => Promise<void>,
  ) {}

  /** Now, and from now on. */
  start(): void {
    this.stop();
    void this.run(this.turn);
  }

  stop(): void {
    this.turn++;
    clearTimeout(this.timer);
  }

  private async run(turn: number): Promise<void> {
    const beganMs = Date.now();
    await this.task(() => turn === this.turn);
    if (turn !== this.turn) return;
    this.timer = window.setTimeout(() => void this.run(turn), Math.max(0, this.everyMs - (Date.now() - beganMs)));
  }
}
