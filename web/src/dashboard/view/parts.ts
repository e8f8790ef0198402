// What several of the dashboard's cards are made of.
import { h, say } from '../../dom';

export interface Part {
  element: HTMLElement;
  update(): void;
}

/** A card that is called by its title. */
export function card(name: string, title: string, ...children: (Node | null)[]): HTMLElement {
  const heading = h('h2', { id: `${name}-title` }, title);
  return h('section', { class: `card ${name}`, 'aria-labelledby': heading.id }, heading, ...children);
}

/** Names and values, one under another. A value that is null is not shown, nor is its name. */
export class Facts {
  readonly element = h('dl', { class: 'facts' });
  private readonly shown = new Map<string, { row: HTMLElement; value: HTMLElement }>();

  /** `alarming`: the value is one that nobody wants. */
  show(name: string, label: string, value: string | null, alarming = false): void {
    const { row, value: place } = this.shown.get(name) ?? this.add(name, label);
    row.hidden = value === null;
    place.classList.toggle('over', alarming);
    if (value !== null) say(place, value);
  }

  private add(name: string, label: string) {
    const value = h('dd', { 'data-fact': name });
    const row = h('div', {}, h('dt', {}, label), value);
    this.element.append(row);
    this.shown.set(name, { row, value });
    return { row, value };
  }
}

/** How much of something is taken. */
export class Meter {
  readonly element: HTMLElement;
  private readonly fill = h('span', { class: 'meter-fill' });

  constructor(label: string) {
    this.element = h('span', { class: 'meter', role: 'meter', 'aria-label': label, 'aria-valuemin': 0, 'aria-valuemax': 100 }, this.fill);
  }

  update(share: number, text: string): void {
    const kept = Math.max(0, Math.min(1, share || 0));
    this.fill.style.transform = `scaleX(${kept})`;
    this.element.setAttribute('aria-valuenow', String(Math.round(kept * 100)));
    this.element.setAttribute('aria-valuetext', text);
  }
}

export interface Row {
  element: HTMLElement;
  update(): void;
}

/** A table whose rows stay while what they are of does. On a narrow screen each row is a card: roles say what it still is. */
export class Table {
  readonly element: HTMLElement;
  private readonly body = h('tbody', { role: 'rowgroup' });
  private readonly rows = new Map<string, Row>();

  constructor(label: string, heads: readonly (readonly [name: string, label: string])[]) {
    this.element = h('table', { class: 'table', role: 'table', 'aria-label': label },
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' },
        ...heads.map(([name, text]) => h('th', { role: 'columnheader', scope: 'col', class: name }, text)))),
      this.body);
  }

  update(keys: readonly string[], make: (key: string) => Row): void {
    const wanted = new Set(keys);
    for (const [key, row] of this.rows) {
      if (wanted.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
    for (const key of keys) {
      const row = this.rows.get(key) ?? make(key);
      this.rows.set(key, row);
      row.update();
    }
    this.arrange(keys.map((key) => this.rows.get(key)?.element));
  }

  /** Somebody's focus would be lost with a row that moves: then they stay as they are. */
  private arrange(wanted: readonly (HTMLElement | undefined)[]): void {
    const busy = this.body.contains(document.activeElement);
    wanted.forEach((row, i) => {
      if (!row || this.body.children[i] === row) return;
      if (!busy || !row.isConnected) this.body.insertBefore(row, this.body.children[i] ?? null);
    });
  }
}

/** A cell: its column's name goes before it where the columns are not seen. */
export function cell(name: string, label: string, ...children: (Node | string | null)[]): HTMLElement {
  return h('td', { role: 'cell', class: name, 'data-label': label }, ...children);
}
