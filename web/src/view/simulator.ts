// The simulator: tabs, the picture, its timelines, and what is set.
import { h, say } from '../dom';
import { ALGORITHMS, type Law } from '../simulator/law';
import { Run } from '../simulator/run';
import { fromQuery, type Settings, toQuery } from '../simulator/settings';
import { LOCAL } from '../simulator/world';
import { fill, type Words } from '../words';
import { Burst } from './burst';
import { Controls } from './controls';
import { type LaneName, Lanes } from './lanes';
import { OwnPanel } from './own_panel';
import { Playback } from './playback';
import { Pods } from './pods';
import { aboutOf, Stage } from './stage';
import { readPalette } from './surface';
import { Tabs } from './tabs';
import { TrendChart } from './trend_chart';
import { UsePanel } from './use_panel';
import { Why } from './why';

const PANEL = 'panel';
const TEXT_MS = 100; // texts change ten times a second at most

interface Part {
  element: HTMLElement;
  update(palette: ReturnType<typeof readPalette>): void;
}

export class Simulator {
  readonly element = h('div', { class: 'simulator' });
  private readonly run: Run;
  private palette = readPalette();
  private words: Words;
  private layout = ''; // of what the panel is made now
  private parts: Part[] = [];
  private stage: Stage | null = null;
  private fixed: { tabs: Tabs; playback: Playback; controls: Controls; why: Why; own: OwnPanel; use: UsePanel } | null = null;
  private readonly title = h('h2', { id: 'panel-title' });
  private readonly about = h('p', { class: 'about' });
  private readonly panel = h('div', { id: PANEL, role: 'tabpanel', class: 'panel', tabindex: -1 });
  private dirty = true;
  private shown = false;
  private next = 0; // the frame that is asked for
  private lastMs = 0;
  private textMs = 0;
  private late = false; // texts are older than the picture

  constructor(
    private readonly law: Law,
    query: URLSearchParams,
    words: Words,
    private readonly motion: () => boolean,
    private readonly keep: (query: string) => void,
  ) {
    this.words = words;
    this.run = new Run(law, fromQuery(query, (us) => law.nearestPeriodUs(us)));
    this.run.playing = motion();
    this.render(words);
  }

  /** Is it the view that is shown? Otherwise its time stands still. */
  show(shown: boolean): void {
    this.shown = shown;
    this.lastMs = 0;
    cancelAnimationFrame(this.next);
    if (shown) this.next = requestAnimationFrame((ms) => this.frame(ms));
  }

  /** Builds everything in these words. The run goes on. */
  render(words: Words): void {
    this.words = words;
    const { run } = this;
    const change = (part: Partial<Settings>) => this.change(part);
    const tabs = new Tabs(words, PANEL, change);
    const playback = new Playback(run, words, {
      send: (count) => this.act(() => run.send(count)),
      boundary: () => this.boundary(),
      speed: (speed) => change({ speed }),
      act: (what) => this.act(() => what(run)),
    });
    const controls = new Controls(run, this.law, words, change);
    const why = new Why(run, words, (lane) => this.laneName(lane).name, (request) =>
      this.choose(run.chosen?.lane ?? run.lane, request));
    const own = new OwnPanel(words, (times) => this.act(() => {
      run.replay(times);
      run.playing = this.motion();
    }), () => change({ traffic: 'poisson' }));
    const use = new UsePanel(run, words);
    this.fixed = { tabs, playback, controls, why, own, use };
    this.layout = '';
    this.element.replaceChildren(tabs.element,
      h('div', { class: 'columns' }, h('div', { class: 'main' }, this.panel, why.element),
        h('aside', { class: 'side', 'aria-label': words.rule }, controls.element),
        h('div', { class: 'more' }, use.element, own.element)));
    this.dirty = true;
  }

  /** The address has changed by somebody's hand. */
  adopt(query: URLSearchParams): void {
    this.change(fromQuery(query, (us) => this.law.nearestPeriodUs(us)));
  }

  /** Colours are other ones now. */
  repaint(): void {
    this.palette = readPalette();
    this.dirty = true;
  }

  private change(part: Partial<Settings>): void {
    const before = this.run.settings;
    const bot = part.show === 'pods' && before.show !== 'pods' && before.traffic !== 'bot' && before.traffic !== 'own';
    this.act(() => this.run.change(bot ? { ...part, traffic: 'bot' } : part));
    this.keep(toQuery(this.run.settings));
  }

  private act(what: () => void): void {
    what();
    this.textMs = 0;
    this.dirty = true;
  }

  private boundary(): void {
    this.change({ traffic: 'edge' });
    this.act(() => {
      this.run.restart();
      this.run.playing = true;
    });
  }

  private choose(lane: number, request: number | null): void {
    const had = this.fixed?.why.element.contains(document.activeElement) ?? false;
    this.act(() => this.run.choose(request === null ? null : { lane, request }));
    if (had && request === null) this.panel.querySelector<HTMLElement>(`[data-timeline='${lane}']`)?.focus();
  }

  private laneName(lane: number): LaneName {
    const { words } = this;
    const { algorithm: shown, pods, show } = this.run.settings;
    const algorithm = ALGORITHMS[lane] ?? shown;
    if (lane === LOCAL) return { lane, algorithm, name: fill(words.localLane, { n: pods }) };
    return { lane, algorithm, name: show === 'pods' ? words.sharedLane : words[algorithm] };
  }

  private lanes(lanes: readonly number[]): Lanes {
    return new Lanes(this.run, this.words, lanes.map((lane) => this.laneName(lane)), (lane, request) =>
      this.choose(lane, request), () => (this.dirty = true));
  }

  /** Makes the panel for what is shown, where it is another than before. */
  private arrange(): void {
    const { run, words, fixed, panel } = this;
    if (!fixed) return;
    const { show, algorithm, traffic, periodUs, limit, pods } = run.settings;
    const wanted = [show, algorithm, traffic === 'edge', periodUs, limit, pods].join();
    if (wanted === this.layout) return;
    this.layout = wanted;
    const all = ALGORITHMS.map((_, lane) => lane);
    const accent = show === 'compare' ? '' : algorithm;
    this.element.setAttribute('data-accent', accent);
    panel.setAttribute('aria-labelledby', `tab-${show === 'one' ? algorithm : show}`);
    const resized = () => (this.dirty = true);
    this.stage = show === 'one' ? new Stage(run, words, this.motion, resized) : null;
    const burst = traffic === 'edge' && show !== 'pods' ? [new Burst(run, words)] : [];
    const pictures: Part[] = [...burst, ...(this.stage ? [this.stage] : show === 'pods' ? [new Pods(run, words)] : [])];
    const lanes = this.lanes(show === 'one' ? [run.lane] : show === 'pods' ? [LOCAL, run.lane] : all);
    const others = show === 'one' && traffic === 'edge' ? this.lanes(all.filter((lane) => lane !== run.lane)) : null;
    const trend = show === 'compare' || others ? new TrendChart(run, words) : null;
    this.parts = [...pictures, lanes, ...(others ? [others] : []), ...(trend ? [trend] : [])];
    panel.replaceChildren(
      h('section', { class: 'card hero', 'aria-labelledby': this.title.id }, this.title, this.about,
        ...pictures.map((part) => part.element), fixed.playback.element),
      h('section', { class: 'card' }, h('h2', {}, words.timeline), h('p', { class: 'hint' }, words.timelineHelp), lanes.element),
      ...(others ? [h('section', { class: 'card' }, h('h2', {}, words.others), others.element)] : []),
      ...(trend ? [trend.element] : []));
  }

  private frame(nowMs: number): void {
    const moved = this.run.frame(this.lastMs === 0 ? 0 : nowMs - this.lastMs);
    this.lastMs = nowMs;
    if (moved || this.dirty || this.late || this.stage?.moving) this.draw(nowMs);
    if (this.shown) this.next = requestAnimationFrame((ms) => this.frame(ms));
  }

  private draw(nowMs: number): void {
    const { run, words, fixed } = this;
    this.dirty = false;
    this.arrange();
    for (const part of this.parts) part.update(this.palette);
    this.late = nowMs - this.textMs < TEXT_MS;
    if (this.late) return;
    this.textMs = nowMs;
    const { show, algorithm } = run.settings;
    say(this.title, show === 'one' ? words[algorithm] : words[show]);
    say(this.about, aboutOf(run, words));
    fixed?.tabs.update(run.settings);
    fixed?.playback.update();
    fixed?.controls.update();
    fixed?.why.update();
    fixed?.own.update(run.settings.traffic === 'own');
    fixed?.use.update();
  }
}
