// Somebody's own traffic: dropped, chosen or pasted, read in pieces so that the page stays awake.
import { h, say } from '../dom';
import { formatNumber, formatSpan } from '../format';
import { OWN_BYTES_MOST, OwnTraffic } from '../simulator/own';
import { fill, type Words } from '../words';

const PIECE = 256 * 1024;

export class OwnPanel {
  readonly element: HTMLElement;
  private readonly status = h('p', { role: 'status' });
  private readonly bad = h('div', { class: 'bad', hidden: true });
  private readonly client = h('select', { id: 'field-client', onchange: () => this.replay() });
  private readonly clientField: HTMLElement;
  private readonly stop: HTMLButtonElement;
  private read: OwnTraffic | null = null;
  private reading = 0; // so that a file dropped while another is read takes its place

  constructor(
    private readonly words: Words,
    private readonly replayTimes: (times: Float64Array) => void,
    stopped: () => void,
  ) {
    const file = h('input', { type: 'file', id: 'field-file', class: 'visually-hidden',
      onchange: () => file.files?.[0] && void this.take(file.files[0]) });
    const paste = h('textarea', { id: 'field-paste', rows: 4, spellcheck: 'false',
      placeholder: '203.0.113.7 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 12\n2025-10-10T13:55:36.2Z\n1760104536' });
    this.clientField = h('div', { class: 'field', hidden: true }, h('label', { for: this.client.id }, words.ownClient), this.client);
    this.stop = h('button', { type: 'button', hidden: true, 'data-do': 'own-stop', onclick: stopped }, words.ownStop);
    const drop = h('div', {
      class: 'drop',
      ondragover: (event) => {
        event.preventDefault();
        drop.classList.add('over');
      },
      ondragleave: () => drop.classList.remove('over'),
      ondrop: (event) => {
        event.preventDefault();
        drop.classList.remove('over');
        const dropped = (event as DragEvent).dataTransfer?.files[0];
        if (dropped) void this.take(dropped);
      },
    }, h('p', {}, words.ownHelp), file, h('label', { for: file.id, class: 'button' }, words.ownFile),
      h('p', { class: 'hint' }, words.ownFormats));
    this.element = h('details', { class: 'card own' }, h('summary', {}, words.ownHeading), drop,
      h('div', { class: 'field wide' }, h('label', { for: paste.id }, words.ownPaste), paste),
      h('button', { type: 'button', 'data-do': 'own-read', onclick: () => void this.take(new Blob([paste.value])) }, words.ownRead),
      this.status, this.bad, this.clientField, this.stop);
  }

  /** Whether a run of it is on. */
  update(on: boolean): void {
    this.stop.hidden = !on;
  }

  private async take(blob: Blob): Promise<void> {
    const turn = ++this.reading;
    const { words, status } = this;
    if (blob.size > OWN_BYTES_MOST) {
      say(status, fill(words.ownLarge, { size: formatNumber(Math.ceil(blob.size / 1024 / 1024)) }));
      return;
    }
    say(status, words.ownReading);
    const traffic = new OwnTraffic();
    const decoder = new TextDecoder();
    for (let at = 0; at < blob.size && !traffic.full; at += PIECE) {
      traffic.feed(decoder.decode(await blob.slice(at, at + PIECE).arrayBuffer(), { stream: true }));
      if (turn !== this.reading) return;
    }
    traffic.feed(decoder.decode());
    traffic.end();
    this.read = traffic;
    this.tell(traffic);
    if (traffic.count > 0) this.replay();
  }

  private tell(traffic: OwnTraffic): void {
    const { words } = this;
    const times = traffic.timesOf(null);
    const span = formatSpan((times[times.length - 1] ?? 0) - (times[0] ?? 0));
    const done = times.length === 0 ? words.ownNothing : fill(words.ownDone, { n: formatNumber(times.length), span });
    say(this.status, traffic.full ? `${done} ${words.ownFull}` : done);
    this.bad.hidden = traffic.bad === 0;
    this.bad.replaceChildren(
      h('p', {}, fill(words.ownBad, { n: formatNumber(traffic.bad), of: formatNumber(traffic.lines) })),
      h('ul', {}, ...traffic.samples.map((line) => h('li', {}, h('code', {}, line)))));
    const busiest = traffic.busiest();
    this.clientField.hidden = busiest.length < 2;
    this.client.replaceChildren(h('option', { value: '' }, words.ownEveryone),
      ...busiest.map(({ client, count }) => h('option', { value: client }, `${client} (${formatNumber(count)})`)));
  }

  private replay(): void {
    if (this.read) this.replayTimes(this.read.timesOf(this.client.value || null));
  }
}
