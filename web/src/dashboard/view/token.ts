// Asks for the token, which buys a session; the browser holds that where no script can read it, and the token nowhere.
import { h } from '../../dom';
import { Field } from '../../view/field';
import type { Words } from '../../words';
import { login } from '../api';
import { Form } from './form';
import { card } from './parts';

export class TokenCard {
  readonly element: HTMLElement;
  private readonly token: Field;

  constructor(words: Words, done: () => void) {
    this.token = new Field({ name: 'token', label: words.token, hint: words.tokenHint, numeric: false, secret: true });
    const form = new Form({
      name: 'token',
      fields: { token: this.token },
      buttons: [h('button', { class: 'primary', 'data-do': 'sign-in' }, words.signIn)],
      send: async () => {
        try {
          await login(this.token.value);
        } finally {
          this.token.value = '';
        }
        done();
      },
    });
    this.element = card('token', words.tokenHeading, form.element);
  }

  focus(): void {
    this.token.focus();
  }
}
