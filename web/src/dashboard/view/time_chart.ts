// Lines over the time of day, up to now. What stands under the pointer, or was chosen by the arrow keys, is told in words.
import uPlot from 'uplot';
import { h, say } from '../../dom';
import { formatClock, formatShort } from '../../format';
import type { Palette } from '../../view/surface';
import type { Ring } from '../ring';

export interface Line {
  accent: string; // of the style sheet
  name: string;
  color: (palette: Palette) => string;
  column: number; // of the ring
  onto?: number; // stands on the line with this number, and so is drawn higher by it
  hatched?: boolean; // what is filled, is so by strokes
  filled?: boolean;
  dash?: number[];
  thin?: boolean;
  rare?: boolean; // named only where it is not zero all along
}

export interface TimeChartOptions {
  label: string;
  lines: readonly Line[];
  height: number;
  format: (value: number) => string;
  axis?: (value: number) => string;
  log?: boolean;
}

const FONT = '11px Inter, system-ui, sans-serif';

/** Slanted strokes on nothing: told apart from what is filled without its colour. */
function hatch(color: string): CanvasPattern | string {
  const tile = document.createElement('canvas');
  const size = 6 * Math.ceil(window.devicePixelRatio || 1);
  tile.width = tile.height = size;
  const context = tile.getContext('2d');
  if (!context) return color;
  context.strokeStyle = color;
  context.lineWidth = size / 4;
  for (const at of [-size, 0, size]) {
    context.moveTo(at - 2, size + 2);
    context.lineTo(at + size + 2, -2);
  }
  context.stroke();
  return context.createPattern(tile, 'repeat') ?? color;
}

function veil(color: string): string {
  return /^#[0-9a-f]{6}$/i.test(color) ? `${color}38` : color;
}

function powersOfTen(_: uPlot, __: number, least: number, most: number): number[] {
  const first = Math.ceil(Math.log10(least));
  return Array.from({ length: Math.max(0, Math.floor(Math.log10(most)) - first + 1) }, (_, i) => 10 ** (first + i));
}

export class TimeChart {
  readonly element: HTMLElement;
  private readonly place: HTMLElement;
  private readonly told: HTMLElement;
  private readonly legend: readonly HTMLElement[];
  private readonly order: readonly number[]; // in which the lines are drawn
  private plot: uPlot | null = null;
  private palette: Palette | null = null;
  private drawn: readonly unknown[] = []; // of what it was drawn last
  private times: number[] = [];
  private values: (number | null)[][] = [];
  private spanS = 60;
  private nowS = 0;
  private chosenS: number | null = null;

  constructor(private readonly options: TimeChartOptions) {
    const { label, lines, height } = options;
    this.place = h('div', {
      class: 'plot', role: 'slider', tabindex: 0, 'aria-label': label, 'aria-valuemin': 0,
      onkeydown: (event) => this.key(event as KeyboardEvent),
      onfocus: () => this.begin(),
      onblur: () => this.choose(null),
    });
    // What stands on another is drawn before it: where it adds nothing, the other's line is seen.
    const numbers = lines.map((_, i) => i);
    this.order = [...numbers.filter((i) => lines[i]?.onto !== undefined), ...numbers.filter((i) => lines[i]?.onto === undefined)];
    this.place.style.minHeight = `${height}px`;
    this.told = h('p', { class: 'told', 'aria-hidden': 'true' });
    this.legend = lines.map(({ name, accent, dash, hatched }) =>
      h('li', { 'data-accent': accent, class: dash ? 'dashed' : hatched ? 'hatched' : undefined, hidden: true }, name));
    this.element = h('div', { class: 'timechart' }, this.place,
      h('div', { class: 'row spread' }, h('ul', { class: 'legend' }, ...this.legend), this.told));
    new ResizeObserver(() => this.plot?.setSize({ width: this.place.clientWidth, height })).observe(this.place);
  }

  update(palette: Palette, ring: Ring, nowS: number, spanS: number): void {
    const drawn: readonly unknown[] = [palette, ring, nowS, spanS];
    if (this.plot && drawn.every((what, i) => what === this.drawn[i])) return;
    this.drawn = drawn;
    this.times = ring.times();
    this.values = this.options.lines.map(({ column }) => ring.column(column));
    this.nowS = nowS;
    this.spanS = spanS;
    this.values.forEach((values, i) => {
      const item = this.legend[i];
      const rare = this.options.lines[i]?.rare ?? false;
      if (item) item.hidden = rare && !values.some((value) => value !== null && value > 0);
    });
    if (this.palette !== palette || !this.plot) this.make(palette);
    else this.plot.setData(this.data());
    this.point();
  }

  private data(): uPlot.AlignedData {
    return [this.times, ...this.order.map((i) => this.stacked(i))];
  }

  private stacked(i: number): (number | null)[] {
    const { onto } = this.options.lines[i] ?? {};
    const values = this.values[i] ?? [];
    if (this.legend[i]?.hidden) return values.map(() => null);
    const below = onto === undefined ? null : this.values[onto];
    return below ? values.map((value, at) => (value === null ? null : value + (below[at] ?? 0))) : values;
  }

  private make(palette: Palette): void {
    if (this.place.clientWidth === 0) return;
    const { lines, format, height } = this.options;
    const at = (i: number) => this.order.indexOf(i) + 1;
    this.palette = palette;
    this.plot?.destroy();
    this.plot = new uPlot({
      width: this.place.clientWidth,
      height,
      legend: { show: false },
      padding: [8, 26, 0, 0],
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      scales: this.scales(),
      axes: this.axes(palette),
      series: [{}, ...this.order.flatMap((i) => lines[i] ?? []).map((line): uPlot.Series => ({
        stroke: line.color(palette),
        width: line.thin ? 1.25 : 1.75,
        points: { show: false },
        ...(line.filled ? { fill: veil(line.color(palette)) } : {}),
        ...(line.dash ? { dash: line.dash } : {}),
      }))],
      bands: lines.flatMap(({ onto, color }, i): uPlot.Band[] =>
        onto === undefined ? [] : [{ series: [at(i), at(onto)], fill: hatch(color(palette)) as string }]),
      hooks: { setCursor: [(plot) => this.hover(plot.cursor.idx ?? null, format)] },
    }, this.data(), this.place);
  }

  private scales(): uPlot.Scales {
    const power = (value: number, whole: (n: number) => number) => 10 ** whole(Math.log10(value));
    const decades = (_: uPlot, least: number | null, most: number | null): uPlot.Range.MinMax =>
      [power(least || 1, Math.floor), power((most || 10) * 1.01, Math.ceil)];
    const fromZero = (_: uPlot, __: number | null, most: number | null): uPlot.Range.MinMax => [0, Math.max(1, (most ?? 0) * 1.1)];
    return {
      x: { time: true, range: () => [this.nowS - this.spanS, this.nowS] },
      y: this.options.log ? { distr: 3, range: decades } : { range: fromZero },
    };
  }

  private axes(palette: Palette): uPlot.Axis[] {
    const { log, axis: text = formatShort } = this.options;
    const axis: uPlot.Axis = { stroke: palette.muted, grid: { stroke: palette.line, width: 1 }, ticks: { show: false }, font: FONT };
    return [
      { ...axis, size: 28, space: 90, incrs: [10, 15, 30, 60, 120, 300], values: (_, at) => at.map((s) => formatClock(s * 1000)) },
      { ...axis, size: 52, space: 36, ...(log ? { splits: powersOfTen } : {}),
        values: (_, at) => at.map((value: number | null) => (value === null ? '' : text(value))) },
    ];
  }

  private hover(index: number | null, format: (value: number) => string): void {
    const time = index === null ? undefined : this.times[index];
    const text = index === null || time === undefined ? '' : this.text(index, time, format);
    say(this.told, text);
  }

  private text(index: number, time: number, format: (value: number) => string): string {
    const parts = this.options.lines.flatMap(({ name, rare }, i) => {
      const value = this.values[i]?.[index] ?? null;
      return value === null || (rare && value === 0) ? [] : [`${name} ${format(value)}`];
    });
    return `${formatClock(time * 1000)} · ${parts.join(' · ') || '–'}`;
  }

  /** By the keyboard one moment is told, the last; and no other until it is left. */
  private begin(): void {
    if (this.place.matches(':focus-visible')) this.choose(this.times[this.times.length - 1] ?? null);
  }

  private key(event: KeyboardEvent): void {
    const last = this.times.length - 1;
    const at = this.index();
    const goal: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last };
    const to = goal[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    const first = this.times.findIndex((time) => time >= this.nowS - this.spanS);
    this.choose(this.times[Math.max(first, Math.min(last, to))] ?? null);
  }

  /** The row that is chosen: by its time, since rows move on. */
  private index(): number {
    const last = this.times.length - 1;
    if (this.chosenS === null) return last + 1;
    const found = this.times.findIndex((time) => time >= (this.chosenS ?? 0));
    return found < 0 ? last : found;
  }

  private choose(timeS: number | null): void {
    this.chosenS = timeS;
    if (timeS === null) this.plot?.setCursor({ left: -10, top: -10 });
    this.point();
  }

  private point(): void {
    const { plot, place, times, options } = this;
    const last = Math.max(0, times.length - 1);
    const index = Math.min(this.index(), last);
    const time = times[index];
    place.setAttribute('aria-valuemax', String(last));
    place.setAttribute('aria-valuenow', String(index));
    place.setAttribute('aria-valuetext', time === undefined ? '–' : this.text(index, time, options.format));
    if (plot && this.chosenS !== null && time !== undefined) plot.setCursor({ left: plot.valToPos(time, 'x'), top: 0 });
    else if (plot) this.hover(plot.cursor.idx ?? null, options.format);
  }
}
