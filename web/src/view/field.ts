// One thing that can be set: its name, its place to type, what it means, and what is wrong with what was typed.
import { h, say } from '../dom';

export interface FieldOptions {
  name: string;
  label: string;
  hint: string;
  numeric: boolean;
  secret?: boolean;
  suggestions?: readonly string[];
  /** Takes what was typed, or says what is wrong with it. Left out, nothing is: what is wrong is told later. */
  typed?: (text: string) => string | null;
}

export class Field {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly error: HTMLElement;
  private readonly about: HTMLElement;

  constructor({ name, label, hint, numeric, secret, suggestions, typed }: FieldOptions) {
    const [id, hintId, errorId] = [`field-${name}`, `hint-${name}`, `error-${name}`];
    this.input = h('input', {
      id,
      name,
      type: secret ? 'password' : 'text',
      inputmode: numeric ? 'decimal' : 'text',
      autocomplete: 'off',
      spellcheck: 'false',
      'aria-describedby': `${hintId} ${errorId}`,
      oninput: () => this.judge(typed?.(this.input.value) ?? null),
    });
    this.error = h('span', { id: errorId, class: 'error', role: 'alert' });
    this.about = h('span', { id: hintId, class: 'hint' }, hint);
    const list = suggestions && h('datalist', { id: `list-${name}` }, ...suggestions.map((value) => h('option', { value })));
    if (list) this.input.setAttribute('list', list.id);
    this.element = h('div', { class: 'field' }, h('label', { for: id }, label), this.input, list,
      this.about, this.error);
  }

  /** Shows a value that was set elsewhere; what somebody is typing stays. */
  show(value: string): void {
    if (document.activeElement === this.input || this.input.value === value) return;
    this.input.value = value;
    this.judge(null);
  }

  set enabled(enabled: boolean) {
    this.input.disabled = !enabled;
    this.element.classList.toggle('off', !enabled);
  }

  set visible(visible: boolean) {
    this.element.hidden = !visible;
  }

  set hint(hint: string) {
    say(this.about, hint);
  }

  get value(): string {
    return this.input.value;
  }

  set value(value: string) {
    this.input.value = value;
    this.judge(null);
  }

  focus(): void {
    this.input.focus();
  }

  /** Says what is wrong with it, or, by null, that nothing is. */
  judge(wrong: string | null): void {
    say(this.error, wrong ?? '');
    this.input.setAttribute('aria-invalid', String(wrong !== null));
  }
}
