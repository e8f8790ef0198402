// A form that is sent to laju: what laju says against it stands by the field that it is about.
import { h, say } from '../../dom';
import { Problem } from '../api';

/** A place to fill in, which says what is wrong with what it holds. */
export interface Judged {
  element: HTMLElement;
  judge(wrong: string | null): void;
  focus(): void;
}

/** One of several. */
export class Choice implements Judged {
  readonly element: HTMLElement;
  private readonly select: HTMLSelectElement;
  private readonly error: HTMLElement;
  private offered: readonly string[] = [];

  constructor(name: string, label: string, hint: string, chosen: () => void) {
    const [id, hintId, errorId] = [`field-${name}`, `hint-${name}`, `error-${name}`];
    this.select = h('select', { id, name, 'aria-describedby': `${hintId} ${errorId}`, onchange: chosen });
    this.error = h('span', { id: errorId, class: 'error', role: 'alert' });
    this.element = h('div', { class: 'field' }, h('label', { for: id }, label), this.select, h('span', { id: hintId, class: 'hint' }, hint),
      this.error);
  }

  get value(): string {
    return this.select.value;
  }

  set value(value: string) {
    this.select.value = value;
    this.judge(null);
  }

  /** What is chosen stays chosen where it is still there. */
  offer(values: readonly string[]): void {
    const { offered } = this;
    if (values === offered || (values.length === offered.length && values.every((value, i) => value === offered[i]))) return;
    const { value } = this.select;
    this.offered = values;
    this.select.replaceChildren(...values.map((value) => h('option', { value }, value)));
    if (values.includes(value)) this.select.value = value;
  }

  judge(wrong: string | null): void {
    say(this.error, wrong ?? '');
    this.select.setAttribute('aria-invalid', String(wrong !== null));
  }

  focus(): void {
    this.select.focus();
  }
}

export interface FormOptions {
  name: string;
  fields: Readonly<Record<string, Judged>>; // by their names at the door
  buttons: readonly HTMLElement[]; // the first sends
  send: () => Promise<void>;
}

export class Form {
  readonly element: HTMLFormElement;
  private readonly wrong = h('p', { class: 'error', role: 'alert' });
  private busy = false;

  constructor(private readonly options: FormOptions) {
    const { name, fields, buttons } = options;
    this.element = h('form', {
      class: 'form', name, novalidate: true,
      onsubmit: (event) => {
        event.preventDefault();
        void this.send();
      },
    }, ...Object.values(fields).map((field) => field.element), h('div', { class: 'row' }, ...buttons), this.wrong);
  }

  private async send(): Promise<void> {
    const { fields, send } = this.options;
    if (this.busy) return;
    this.busy = true;
    for (const field of Object.values(fields)) field.judge(null);
    say(this.wrong, '');
    await send().catch((error: unknown) => this.blame(error));
    this.busy = false;
  }

  private blame(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    const field = error instanceof Problem && error.field !== null ? this.options.fields[error.field] : undefined;
    if (!field) {
      say(this.wrong, text);
      return;
    }
    field.judge(text);
    field.focus();
  }
}
