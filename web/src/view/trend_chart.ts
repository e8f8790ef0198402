// The five algorithms' admissions of the last period, over the whole run, beside the limit.
import uPlot from 'uplot';
import { h } from '../dom';
import { ALGORITHMS } from '../simulator/law';
import type { Run } from '../simulator/run';
import { fill, type Words } from '../words';
import { formatDuration } from '../duration';
import type { Palette } from './surface';

const HEIGHT = 220;
const REDRAW_MS = 120;

export class TrendChart {
  readonly element: HTMLElement;
  private readonly place = h('div', { class: 'plot' });
  private plot: uPlot | null = null;
  private palette: Palette | null = null;
  private drawnMs = 0;
  private drawn: unknown = null;

  constructor(
    private readonly run: Run,
    private readonly words: Words,
  ) {
    const { periodUs, limit } = run.settings;
    const per = formatDuration(periodUs);
    this.place.setAttribute('role', 'img');
    this.place.setAttribute('aria-label', fill(words.trendLabel, { per, limit }));
    this.element = h('section', { class: 'card trend' }, h('h2', {}, fill(words.trend, { per })), this.place,
      h('ul', { class: 'legend' }, ...ALGORITHMS.map((name) => h('li', { 'data-accent': name }, words[name]))));
    new ResizeObserver(() => this.plot?.setSize({ width: this.place.clientWidth, height: HEIGHT })).observe(this.place);
  }

  update(palette: Palette): void {
    const { trend } = this.run;
    if (this.palette !== palette || !this.plot) this.make(palette);
    const nowMs = performance.now();
    const state = `${trend.seconds.length}:${trend.seconds[trend.seconds.length - 1] ?? ''}`;
    if (this.drawn === state || nowMs - this.drawnMs < REDRAW_MS) return;
    this.drawn = state;
    this.drawnMs = nowMs;
    this.plot?.setData(this.data());
  }

  /** Counts jump; a slanted line between two of them would show what never was. */
  private get stepped() {
    return uPlot.paths.stepped?.({ align: 1 });
  }

  private data(): uPlot.AlignedData {
    const { trend, settings } = this.run;
    return [trend.seconds, trend.seconds.map(() => settings.limit), ...trend.held];
  }

  private make(palette: Palette): void {
    if (this.place.clientWidth === 0) return;
    this.palette = palette;
    this.plot?.destroy();
    const { stepped } = this;
    const line = { width: 2, points: { show: false }, ...(stepped ? { paths: stepped } : {}) };
    const axis = { stroke: palette.muted, grid: { stroke: palette.line, width: 1 }, ticks: { show: false } };
    this.plot = new uPlot({
      width: this.place.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, y: { range: (_, __, most) => [0, Math.max(this.run.settings.limit * 1.15, most * 1.08, 1)] } },
      axes: [{ ...axis, label: this.words.seconds, labelSize: 18, size: 30 }, { ...axis, size: 44 }],
      series: [
        {},
        { stroke: palette.ink, width: 1.5, dash: [6, 4], points: { show: false } },
        ...ALGORITHMS.map((name) => ({ ...line, stroke: palette.accents[name] })),
      ],
    }, this.data(), this.place);
  }
}
