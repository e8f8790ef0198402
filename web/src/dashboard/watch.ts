// Keys that somebody looks at: how each stands, and how it stood since.
import { type Key, type Name, Problem, readKey } from './api';
import { KEPT_S } from './history';
import { Regular } from './regular';
import { Ring } from './ring';

export const WATCHED_MOST = 100;
const POLL_MS = 2000;
const SIDE_BY_SIDE = 4; // asked at once; a browser has few connections to one server

export interface Watched {
  readonly id: number;
  readonly name: Name;
  readonly used: Ring; // of the limit, and the limit
  key: Key;
  heardMs: number;
  wrong: string; // why the last look brought nothing
}

const isSame = (a: Name, b: Name): boolean => a.rule === b.rule && a.key === b.key && a.group === b.group;

export class Watch {
  readonly keys: Watched[] = []; // the newest first
  dropped: Watched | null = null; // who had to go last
  private next = 1;
  readonly looking = new Regular(POLL_MS, (alive) => this.round(alive));

  constructor(
    private readonly changed: () => void,
    private readonly locked: () => void,
  ) {}

  /** Looks a key up, and watches it from now on. Throws what the door says against it. */
  async add(name: Name): Promise<Watched> {
    const key = await readKey(name);
    const known = this.keys.find((watched) => isSame(watched.name, name));
    const watched = known ?? { id: this.next++, name, used: new Ring(2, KEPT_S), key, heardMs: 0, wrong: '' };
    if (known) this.keys.splice(this.keys.indexOf(known), 1);
    this.keys.unshift(watched);
    this.dropped = this.keys.length > WATCHED_MOST ? (this.keys.pop() ?? null) : null;
    this.take(watched, key);
    return watched;
  }

  remove(watched: Watched): void {
    const at = this.keys.indexOf(watched);
    if (at >= 0) this.keys.splice(at, 1);
    this.changed();
  }

  /** Whose key is shown like this; a masked one may stand for others as well, so it has to be told apart by who knows it. */
  find(rule: string, shown: string): Watched | undefined {
    return this.keys.find(({ key }) => key.rule === rule && key.key === shown);
  }

  async look(watched: Watched): Promise<void> {
    try {
      this.take(watched, await readKey(watched.name));
    } catch (error) {
      if (error instanceof Problem && error.status === 401) this.locked();
      watched.wrong = error instanceof Error ? error.message : String(error);
      this.changed();
    }
  }

  private take(watched: Watched, key: Key): void {
    watched.key = key;
    watched.heardMs = Date.now();
    watched.wrong = '';
    watched.used.forget(watched.heardMs / 1000 - KEPT_S);
    watched.used.push(watched.heardMs / 1000, [key.limit - key.remaining, key.limit]);
    this.changed();
  }

  private async round(alive: () => boolean): Promise<void> {
    const left = [...this.keys];
    const lane = async () => {
      for (let watched = left.shift(); watched && alive(); watched = left.shift()) await this.look(watched);
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  }
}
