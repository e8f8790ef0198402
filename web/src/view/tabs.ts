// The tabs: one an algorithm, one for all five beside each other, one for many pods.
import { h } from '../dom';
import { ALGORITHMS } from '../simulator/law';
import type { Settings } from '../simulator/settings';
import type { Words } from '../words';

export type Tab = Pick<Settings, 'show' | 'algorithm'>;

const nameOf = ({ show, algorithm }: Tab): string => (show === 'one' ? algorithm : show);

export class Tabs {
  readonly element: HTMLElement;
  private readonly buttons: readonly HTMLButtonElement[];
  private readonly names: readonly string[];

  /** `algorithm`: the one that was looked at last, which the two last tabs keep. */
  constructor(words: Words, panelId: string, chosen: (tab: Partial<Settings>) => void) {
    const shows: Partial<Settings>[] = [
      ...ALGORITHMS.map((algorithm) => ({ show: 'one' as const, algorithm })),
      { show: 'compare' },
      { show: 'pods' },
    ];
    this.names = [...ALGORITHMS, 'compare', 'pods'];
    const labels = [...ALGORITHMS.map((name) => words[name]), words.compare, words.pods];
    this.buttons = shows.map((tab, i) => h('button', {
      type: 'button',
      role: 'tab',
      id: `tab-${this.names[i]}`,
      'aria-controls': panelId,
      'data-accent': tab.algorithm,
      onclick: () => chosen(tab),
      onkeydown: (event) => this.key(event as KeyboardEvent, i),
    }, labels[i]));
    this.element = h('div', { role: 'tablist', class: 'tabs', 'aria-label': words.algorithms }, ...this.buttons);
  }

  update(tab: Tab): void {
    this.buttons.forEach((button, i) => {
      const selected = this.names[i] === nameOf(tab);
      if (selected && button.ariaSelected !== 'true') this.reveal(button);
      button.setAttribute('aria-selected', String(selected));
      button.tabIndex = selected ? 0 : -1;
    });
  }

  /** On a narrow screen the tabs scroll sideways: the chosen one is to be seen. */
  private reveal(button: HTMLButtonElement): void {
    this.element.scrollLeft = button.offsetLeft - (this.element.clientWidth - button.offsetWidth) / 2;
  }

  private key(event: KeyboardEvent, from: number): void {
    const count = this.buttons.length;
    const goal: Record<string, number> = {
      ArrowLeft: (from + count - 1) % count,
      ArrowRight: (from + 1) % count,
      Home: 0,
      End: count - 1,
    };
    const to = goal[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.buttons[to]?.click();
    this.buttons[to]?.focus();
  }
}
