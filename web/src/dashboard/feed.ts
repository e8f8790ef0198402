// How the page hears from laju: pushed while that works, asked for every two seconds where it does not, and not at all while
// nobody looks.
import { EVENTS, Problem, readSession, readStatus, type Status } from './api';

const POLL_MS = 2000;
const SILENCE_MS = 5000; // a stream that says nothing for so long is no stream
const AGAIN_MS = 15_000; // until a stream is tried again

export type Hearing =
  | 'connecting'
  | 'live'
  | 'polling'
  | 'lost'
  | 'locked' // a token is needed
  | 'refused'; // it will not tell, whoever asks

export class Feed {
  hearing: Hearing = 'connecting';
  heardMs = 0; // the last word, by this machine's clock
  why = ''; // it is lost or refused; "" where there is no answer at all
  secured = false; // a token is set
  private stream: EventSource | null = null;
  private timer = 0;
  private streamMs = 0; // when one was tried last
  private turn = 0; // what was asked in an earlier one is not for us any more

  constructor(
    private readonly told: (status: Status) => void,
    private readonly changed: () => void,
  ) {}

  /** Begins, or goes on. */
  async start(): Promise<void> {
    this.stop();
    const turn = this.turn;
    this.turnTo(this.heardMs === 0 ? 'connecting' : this.hearing);
    try {
      const { needed, open } = await readSession();
      if (turn !== this.turn) return;
      this.secured = needed;
      if (needed && !open) this.turnTo('locked');
      else this.listen();
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
  }

  stop(): void {
    this.turn++;
    clearTimeout(this.timer);
    this.stream?.close();
    this.stream = null;
  }

  private listen(): void {
    const stream = new EventSource(EVENTS);
    this.stop();
    this.stream = stream;
    this.streamMs = Date.now();
    const giveUp = () => {
      this.stop();
      void this.poll();
    };
    const watch = () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(giveUp, SILENCE_MS);
    };
    stream.addEventListener('status', (event) => {
      watch();
      this.hear('live', JSON.parse(event.data) as Status);
    });
    stream.addEventListener('error', giveUp);
    watch();
  }

  private async poll(): Promise<void> {
    const turn = this.turn;
    try {
      const status = await readStatus();
      if (turn !== this.turn) return;
      const wasLost = this.hearing === 'lost';
      this.hear('polling', status);
      if (wasLost || Date.now() - this.streamMs > AGAIN_MS) this.listen();
      else this.pollSoon();
    } catch (error) {
      if (turn === this.turn) this.fail(error);
    }
  }

  private pollSoon(): void {
    this.timer = window.setTimeout(() => void this.poll(), POLL_MS);
  }

  private fail(error: unknown): void {
    const status = error instanceof Problem ? error.status : 0;
    this.why = status === 0 ? '' : (error as Problem).message;
    if (status === 401) {
      this.secured = true;
      this.turnTo('locked');
      return;
    }
    this.turnTo(status === 403 || status === 421 ? 'refused' : 'lost');
    this.pollSoon();
  }

  private hear(how: Hearing, status: Status): void {
    this.heardMs = Date.now();
    this.turnTo(how);
    this.told(status);
  }

  private turnTo(hearing: Hearing): void {
    this.hearing = hearing;
    this.changed();
  }
}
