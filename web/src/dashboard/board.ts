// All that the dashboard knows. It changes as laju tells; the views show it, and know nothing of how it came.
import { type Override, Problem, readOverrides, readRules, readTop, type Refused, type Rule, type Status } from './api';
import { Feed } from './feed';
import { History } from './history';
import { Regular } from './regular';
import { Watch } from './watch';

const TOP_MS = 5000;
const TOP_MOST = 100;
const OVERRIDES_MS = 30_000; // other nodes may change them, and their number need not tell

/** What is read now and then: the last that came, and why nothing newer did. */
export interface Read<T> {
  is: T;
  wrong: string;
}

export class Board {
  readonly history = new History();
  readonly feed = new Feed((status) => this.take(status), () => this.turn());
  readonly watch = new Watch(() => this.changed(), () => void this.feed.start());
  readonly top: Read<Refused[] | null> = { is: null, wrong: '' };
  readonly overrides: Read<Override[] | null> = { is: null, wrong: '' };
  readonly rules: Read<Rule[]> = { is: [], wrong: '' };
  status: Status | null = null;
  private readonly topping = new Regular(TOP_MS, () => this.read(this.top, async () => (await readTop(TOP_MOST)).keys));
  private readonly overriding = new Regular(OVERRIDES_MS, () =>
    this.read(this.overrides, async () => (await readOverrides()).overrides));
  private indexed: readonly Rule[] | null = null; // what the next two are of
  private byName: ReadonlyMap<string, Rule> = new Map();
  private names: readonly string[] = [];
  private rulesOf = ''; // which process and configuration `rules` are of
  private overridesOf = '';
  private running = false;
  private asking = false; // laju answers, so there is more to ask for
  private topSeen = false;

  /** `filter`: the one rule that is looked at, or null for all. */
  constructor(
    public filter: string | null,
    private readonly changed: () => void,
  ) {}

  start(): void {
    if (this.running) return;
    this.running = true;
    void this.feed.start();
  }

  stop(): void {
    this.running = false;
    this.feed.stop();
    this.rest();
  }

  /** Somebody sees who is refused most, or nobody does. */
  showTop(seen: boolean): void {
    if (seen === this.topSeen) return;
    this.topSeen = seen;
    if (seen && this.asking) this.topping.start();
    else this.topping.stop();
  }

  readOverrides(): void {
    this.overriding.start();
  }

  /** Nothing that was told stays with who may not see it any more. */
  forget(): void {
    this.status = null;
    this.rules.is = [];
    this.rulesOf = '';
    this.top.is = this.overrides.is = null;
    this.watch.keys.length = 0;
  }

  ruleOf(name: string): Rule | undefined {
    return this.index().get(name);
  }

  /** All there are; until that is known, those of which laju has told. */
  get ruleNames(): readonly string[] {
    return this.index().size > 0 ? this.names : (this.status?.rules.map(({ name }) => name) ?? []);
  }

  /** There may be thousands, and each row of a table asks for its own. */
  private index(): ReadonlyMap<string, Rule> {
    if (this.indexed !== this.rules.is) {
      this.indexed = this.rules.is;
      this.byName = new Map(this.rules.is.map((rule) => [rule.name, rule]));
      this.names = [...this.byName.keys()];
    }
    return this.byName;
  }

  private turn(): void {
    const answers = this.feed.hearing === 'live' || this.feed.hearing === 'polling';
    if (answers && !this.asking) {
      this.asking = true;
      this.watch.looking.start();
      if (this.topSeen) this.topping.start();
    } else if (!answers) {
      this.rest();
    }
    this.changed();
  }

  private rest(): void {
    this.asking = false;
    this.overridesOf = '';
    for (const regular of [this.watch.looking, this.topping, this.overriding]) regular.stop();
  }

  private take(status: Status): void {
    this.status = status;
    this.history.take(status);
    const rulesOf = `${status.started_ms} ${status.reloads.done} ${status.rule_count}`;
    if (rulesOf !== this.rulesOf) {
      this.rulesOf = rulesOf;
      void this.read(this.rules, async () => (await readRules()).rules);
    }
    const overridesOf = `${status.started_ms} ${status.overrides}`;
    if (overridesOf !== this.overridesOf) {
      this.overridesOf = overridesOf;
      this.overriding.start();
    }
    this.changed();
  }

  private async read<T>(into: Read<T>, ask: () => Promise<T>): Promise<void> {
    try {
      into.is = await ask();
      into.wrong = '';
    } catch (error) {
      into.wrong = error instanceof Error ? error.message : String(error);
      if (error instanceof Problem && error.status === 401 && this.running) void this.feed.start();
    }
    this.changed();
  }
}
