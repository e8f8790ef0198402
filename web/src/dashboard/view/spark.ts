// A small picture of how a number went, beside the number itself.
import { SVG } from '../../dom';

const WIDTH = 120;
const HEIGHT = 30;

export interface SparkLine {
  accent: string;
  values: (number | null)[];
}

export class Spark {
  readonly element = document.createElementNS(SVG, 'svg');
  private readonly paths: SVGPathElement[] = [];

  /** It says nothing that the numbers beside it do not: readers pass over it. */
  constructor() {
    this.element.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
    this.element.setAttribute('preserveAspectRatio', 'none');
    this.element.setAttribute('aria-hidden', 'true');
    this.element.setAttribute('class', 'spark');
  }

  /** Areas, the first behind all others. `most` stands at the top. */
  update(times: readonly number[], lines: readonly SparkLine[], nowS: number, spanS: number, most: number): void {
    lines.forEach(({ accent, values }, i) => {
      const path = this.paths[i] ?? this.add();
      path.setAttribute('data-accent', accent);
      path.setAttribute('d', this.path(times, values, nowS, spanS, most));
    });
  }

  private add(): SVGPathElement {
    const path = document.createElementNS(SVG, 'path');
    this.paths.push(path);
    this.element.append(path);
    return path;
  }

  private path(times: readonly number[], values: readonly (number | null)[], nowS: number, spanS: number, most: number): string {
    const floor = HEIGHT - 0.5;
    let drawn = '';
    let lastX: number | null = null;
    for (let i = 0; i < times.length; i++) {
      const x = WIDTH * (1 - (nowS - (times[i] ?? 0)) / spanS);
      const value = values[i] ?? null;
      if (x < 0) continue;
      const y = value === null ? floor : floor - (HEIGHT - 2) * Math.min(1, value / Math.max(most, 1e-9));
      if (value === null) {
        if (lastX !== null) drawn += `V${floor}`;
        lastX = null;
      } else {
        drawn += lastX === null ? `M${x.toFixed(1)} ${floor}V${y.toFixed(1)}` : `L${x.toFixed(1)} ${y.toFixed(1)}`;
        lastX = x;
      }
    }
    return lastX === null ? drawn : `${drawn}V${floor}`;
  }
}
