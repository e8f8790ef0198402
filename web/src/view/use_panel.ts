// The rule, to copy; and the run, to take along.
import { h, say } from '../dom';
import { formatDuration } from '../duration';
import type { Run } from '../simulator/run';
import { asEnvoy, asYaml } from '../simulator/use';
import { fill, type Words } from '../words';

const COPIED_MS = 1600;

function copyButton(words: Words, name: string, label: string, text: () => string): HTMLButtonElement {
  const button = h('button', { type: 'button', 'data-do': name, onclick: () => void copy() }, label);
  const copy = async () => {
    await navigator.clipboard.writeText(text());
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

  constructor(
    private readonly run: Run,
    private readonly words: Words,
  ) {
    const block = (name: string, label: string, code: HTMLElement) =>
      h('div', { class: 'snippet' },
        h('div', { class: 'row spread' }, h('h3', {}, label), copyButton(words, `copy-${name}`, words.copy, () => code.textContent ?? '')),
        h('pre', { tabindex: 0, 'aria-label': label }, code));
    this.element = h('details', { class: 'card use', open: true }, h('summary', {}, words.useHeading),
      block('yaml', words.useYaml, this.yaml), block('envoy', words.useEnvoy, this.envoy),
      h('p', { class: 'hint' }, words.useEnvoyNote),
      h('div', { class: 'row' }, copyButton(words, 'copy-link', words.link, () => location.href),
        h('button', { type: 'button', 'data-do': 'times', onclick: () => this.download() }, words.takeTimes)));
  }

  update(): void {
    const { settings } = this.run;
    say(this.yaml, asYaml(settings));
    say(this.envoy, asEnvoy(settings, fill(this.words.envoyNoUnit, { per: formatDuration(settings.periodUs) })));
  }

  private download(): void {
    const url = URL.createObjectURL(new Blob([timesText(this.run.world.times)], { type: 'text/plain' }));
    h('a', { href: url, download: 'times.txt' }).click();
    URL.revokeObjectURL(url);
  }
}
