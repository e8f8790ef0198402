// The rule, to copy; and the run, to take along.
import { h, say } from '../dom';
import { formatDuration } from '../duration';
import type { Run } from '../simulator/run';
import { asEnvoy, asYaml } from '../simulator/use';
import { fill, type Words } from '../words';

const COPIED_MS = 1600;

/** A page that came over plain HTTP from another host has no clipboard, but may still copy what is selected. */
async function copied(text: string): Promise<boolean> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text).then(() => true, () => false);
  const box = h('textarea', { class: 'visually-hidden', readonly: true });
  box.value = text;
  const before = document.activeElement;
  document.body.append(box);
  box.select();
  const done = document.execCommand('copy');
  box.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}

function copyButton(words: Words, name: string, label: string, text: () => string): HTMLButtonElement {
  const button = h('button', { type: 'button', 'data-do': name, onclick: () => void copy() }, label);
  const copy = async () => {
    if (!(await copied(text()))) return;
    say(button, words.copied);
    setTimeout(() => say(button, label), COPIED_MS);
  };
  return button;
}

/** The times of a run's requests, in seconds, a line each: as the page itself reads them again. */
export function timesText(times: Float64Array): string {
  return Array.from(times, (us) => `${(us / 1_000_000).toFixed(6)}\n`).join('');
}

export class UsePanel {
  readonly element: HTMLElement;
  private readonly yaml = h('code', { 'data-use': 'yaml' });
  private readonly envoy = h('code', { 'data-use': 'envoy' });
  private readonly link: HTMLButtonElement;

  constructor(
    private readonly run: Run,
    private readonly words: Words,
  ) {
    const block = (name: string, label: string, code: HTMLElement) =>
      h('div', { class: 'snippet' },
        h('div', { class: 'row spread' }, h('h3', {}, label), copyButton(words, `copy-${name}`, words.copy, () => code.textContent ?? '')),
        h('pre', { tabindex: 0, 'aria-label': label }, code));
    this.link = copyButton(words, 'copy-link', words.link, () => location.href);
    this.element = h('details', { class: 'card use', open: true }, h('summary', {}, words.useHeading),
      block('yaml', words.useYaml, this.yaml), block('envoy', words.useEnvoy, this.envoy),
      h('p', { class: 'hint' }, words.useEnvoyNote),
      h('div', { class: 'row' }, this.link,
        h('button', { type: 'button', 'data-do': 'times', onclick: () => this.download() }, words.takeTimes)));
  }

  update(): void {
    const { settings } = this.run;
    this.link.hidden = settings.traffic === 'own'; // no address holds somebody's own times
    say(this.yaml, asYaml(settings));
    say(this.envoy, asEnvoy(settings, fill(this.words.envoyNoUnit, { per: formatDuration(settings.periodUs) })));
  }

  private download(): void {
    const url = URL.createObjectURL(new Blob([timesText(this.run.world.times)], { type: 'text/plain' }));
    h('a', { href: url, download: 'times.txt' }).click();
    URL.revokeObjectURL(url);
  }
}
