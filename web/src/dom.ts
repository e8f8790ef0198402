// Elements by a call. No HTML text and no style attribute is ever parsed: the page's policy forbids inline styles.

type Child = Node | string | null | undefined | false;
type Props = Readonly<Record<string, string | number | boolean | EventListener | undefined>>;

/** Properties that begin with `on` are listeners, the others attributes; false and undefined leave one out. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** Changes the text only where it is another one: a browser lays out, and a reader reads aloud, what is written. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export const SVG = 'http://www.w3.org/2000/svg';

/** A small picture of one path, 24 by 24, in the text's colour. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  const attributes = { viewBox: '0 0 24 24', width: '18', height: '18', 'aria-hidden': 'true', class: 'icon' };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  const shape = document.createElementNS(SVG, 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}
