// A canvas as wide as its place, sharp on every screen, and what is drawn with most.
import { ALGORITHMS, type Algorithm } from '../simulator/law';

export interface Palette {
  ink: string;
  muted: string;
  line: string;
  edge: string;
  sunk: string;
  surface: string;
  alarm: string;
  accents: Readonly<Record<Algorithm, string>>;
}

/** The style sheet's colours, as they are now. */
export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const accents = Object.fromEntries(ALGORITHMS.map((algorithm) => [algorithm, color(algorithm)]));
  return {
    ink: color('ink'),
    muted: color('muted'),
    line: color('line'),
    edge: color('edge'),
    sunk: color('sunk'),
    surface: color('surface'),
    alarm: color('alarm'),
    accents: accents as Record<Algorithm, string>,
  };
}

const FONT = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

export interface TextStyle {
  color: string;
  size?: number;
  weight?: number;
  align?: CanvasTextAlign;
}

export class Surface {
  readonly canvas = document.createElement('canvas');
  readonly context: CanvasRenderingContext2D;
  width = 0;

  /** `resized` is called when its width has changed: what was drawn is gone then. */
  constructor(
    readonly height: number,
    private readonly resized: () => void,
  ) {
    const context = this.canvas.getContext('2d');
    if (!context) throw new Error('no canvas');
    this.context = context;
    this.canvas.style.height = `${height}px`;
    new ResizeObserver(() => this.fit()).observe(this.canvas);
  }

  private fit(): void {
    const ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.resized();
  }

  clear(): void {
    this.context.clearRect(0, 0, this.width, this.height);
  }

  box(x: number, y: number, width: number, height: number, radius: number, fill: string | null, stroke?: string): void {
    const { context } = this;
    if (width <= 0 || height <= 0) return;
    context.beginPath();
    context.roundRect(x, y, width, height, Math.min(radius, width / 2, height / 2));
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      context.strokeStyle = stroke;
      context.lineWidth = 1.5;
      context.stroke();
    }
  }

  /** A bucket: open at the top. */
  vessel(x: number, y: number, width: number, height: number, fill: string, stroke: string): void {
    const { context } = this;
    const radius = 18;
    context.beginPath();
    context.moveTo(x, y);
    context.arcTo(x, y + height, x + width / 2, y + height, radius);
    context.arcTo(x + width, y + height, x + width, y, radius);
    context.lineTo(x + width, y);
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = stroke;
    context.lineWidth = 2;
    context.stroke();
  }

  disc(x: number, y: number, radius: number, fill: string): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fillStyle = fill;
    this.context.fill();
  }

  ring(x: number, y: number, radius: number, stroke: string, width = 1.5): void {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.strokeStyle = stroke;
    this.context.lineWidth = width;
    this.context.stroke();
  }

  cross(x: number, y: number, reach: number, stroke: string): void {
    const { context } = this;
    context.beginPath();
    context.moveTo(x - reach, y - reach);
    context.lineTo(x + reach, y + reach);
    context.moveTo(x + reach, y - reach);
    context.lineTo(x - reach, y + reach);
    context.strokeStyle = stroke;
    context.lineWidth = 1.75;
    context.stroke();
  }

  stroke(x1: number, y1: number, x2: number, y2: number, color: string, width = 1, dash: number[] = []): void {
    const { context } = this;
    context.beginPath();
    context.setLineDash(dash);
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.strokeStyle = color;
    context.lineWidth = width;
    context.stroke();
    context.setLineDash([]);
  }

  /** How wide a text will be. */
  widthOf(text: string, { size = 12, weight = 500 }: Pick<TextStyle, 'size' | 'weight'>): number {
    this.context.font = `${weight} ${size}px ${FONT}`;
    return this.context.measureText(text).width;
  }

  text(text: string, x: number, y: number, { color, size = 12, weight = 500, align = 'left' }: TextStyle): void {
    const { context } = this;
    context.font = `${weight} ${size}px ${FONT}`;
    context.textAlign = align;
    context.textBaseline = 'middle';
    context.fillStyle = color;
    context.fillText(text, x, y);
  }

  /** What `draw` draws is seen only inside the box. */
  clipped(x: number, y: number, width: number, height: number, draw: () => void, radius = 0): void {
    const { context } = this;
    context.save();
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    context.clip();
    draw();
    context.restore();
  }

  /** Draws with a part of its strength, 0 to 1. */
  faded(strength: number, draw: () => void): void {
    const { context } = this;
    const before = context.globalAlpha;
    context.globalAlpha = before * Math.max(0, Math.min(1, strength));
    draw();
    context.globalAlpha = before;
  }
}
