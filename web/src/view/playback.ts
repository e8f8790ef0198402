// What drives a run: requests by hand, and how its time goes.
import { h, icon, say } from '../dom';
import { formatMoment, formatNumber } from '../format';
import type { Run } from '../simulator/run';
import { SPEEDS } from '../simulator/settings';
import { fill, type Words } from '../words';

const SPIKE = 15;
const PLAY = 'M7 4.5v15l12-7.5z';
const PAUSE = 'M7 5h3.5v14H7zM13.5 5H17v14h-3.5z';
const STEP = 'M5 5v14l9-7zM16 5h3v14h-3z';
const RESTART = 'M12 5V1.5L6.5 6.5 12 11.5V8a5 5 0 1 1-5 5H4a8 8 0 1 0 8-8z';
const AHEAD = 'M3 5v14l8.5-7zM12 5v14l8.5-7z';

export interface PlaybackActions {
  send: (count: number) => void;
  boundary: () => void;
  speed: (speed: number) => void;
  act: (what: (run: Run) => void) => void;
}

export class Playback {
  readonly element: HTMLElement;
  private readonly play: HTMLButtonElement;
  private readonly slow: HTMLButtonElement;
  private readonly ahead: HTMLButtonElement;
  private readonly speed: HTMLSelectElement;
  private readonly time: HTMLElement;
  private readonly notice: HTMLElement;

  constructor(
    private readonly run: Run,
    private readonly words: Words,
    { send, boundary, speed, act }: PlaybackActions,
  ) {
    const button = (name: string, label: string, path: string | null, clicked: () => void, title = '') =>
      h('button', { type: 'button', 'data-do': name, title: title || undefined, onclick: clicked }, path ? icon(path) : null,
        h('span', {}, label));
    this.play = button('play', words.play, PLAY, () => act((r) => (r.playing = !r.playing)));
    this.play.classList.add('primary');
    this.slow = button('slow', words.slow, null, () => act((r) => (r.slow = !r.slow)));
    this.ahead = button('ahead', words.ahead, AHEAD, () => act((r) => r.goAhead()));
    this.speed = h('select', { id: 'field-speed', onchange: () => speed(Number(this.speed.value)) },
      ...SPEEDS.map((value) => h('option', { value }, `× ${formatNumber(value, value < 0.25 ? 1 : value < 0.5 ? 2 : value < 1 ? 1 : 0)}`)));
    this.time = h('output', { class: 'time', 'data-time': '' });
    this.notice = h('p', { class: 'notice', role: 'status' });
    this.element = h('div', { class: 'playback' },
      h('div', { class: 'row' },
        button('one', words.sendOne, null, () => send(1)),
        button('spike', words.sendSpike, null, () => send(SPIKE)),
        button('boundary', words.boundary, null, boundary, words.boundaryHint), this.time),
      h('div', { class: 'row' }, this.play, button('step', words.step, STEP, () => act((r) => r.step()), words.stepHint),
        this.slow, this.ahead, button('restart', words.restart, RESTART, () => act((r) => r.restart())),
        h('label', { class: 'speed', for: 'field-speed' }, h('span', {}, words.speed), this.speed)),
      this.notice);
  }

  update(): void {
    const { run, words } = this;
    const label = this.play.querySelector('span');
    if (label) say(label, run.playing ? words.pause : words.play);
    this.play.querySelector('path')?.setAttribute('d', run.playing ? PAUSE : PLAY);
    this.slow.setAttribute('aria-pressed', String(run.slow));
    const aheadLabel = this.ahead.querySelector('span');
    if (aheadLabel) say(aheadLabel, run.settings.traffic === 'own' ? words.toEnd : words.ahead);
    this.speed.value = String(run.settings.speed);
    this.speed.disabled = run.slow;
    say(this.time, formatMoment(run.world.nowUs, run.settings.traffic === 'own'));
    this.time.setAttribute('data-time', String(run.world.nowUs));
    const part = run.jumped;
    this.ahead.setAttribute('aria-busy', String(part !== null));
    const running = part === null ? '' : fill(words.running, { part: formatNumber(part * 100) });
    say(this.notice, running || (run.overtaken ? words.tooFast : ''));
  }
}
