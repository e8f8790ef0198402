// The three that look back: time scrolls to the left under a fixed `now`.
import { formatDuration } from '../duration';
import { fill } from '../words';
import { Place } from '../simulator/law';
import { drawGauge, peeked, type Scene } from './scene';

interface Axis {
  left: number;
  right: number;
  nowX: number;
  perPeriod: number; // pixels
  top: number;
  base: number;
}

const GAUGE_ROOM = 84;

function axisOf(scene: Scene): Axis {
  const { surface } = scene;
  const right = surface.width - GAUGE_ROOM;
  const perPeriod = right * 0.42;
  return { left: 0, right, nowX: right * 0.88, perPeriod, top: 46, base: surface.height - 66 };
}

const xOf = (scene: Scene, axis: Axis, us: number): number =>
  axis.nowX - ((scene.world.nowUs - us) / scene.numbers.periodUs) * axis.perPeriod;

/** The first request that can be seen. */
function firstSeen(scene: Scene, axis: Axis): number {
  const periods = axis.nowX / axis.perPeriod;
  return scene.world.history.since(scene.world.nowUs - periods * scene.numbers.periodUs);
}

function drawNow(scene: Scene, axis: Axis): void {
  const { surface, palette, words } = scene;
  surface.stroke(axis.nowX, axis.top - 14, axis.nowX, axis.base + 46, palette.ink, 1.5);
  surface.text(words.now, axis.nowX, axis.top - 24, { color: palette.ink, size: 11, weight: 650, align: 'center' });
}

/** Below the axis: a dot for who was admitted, a cross for who was refused. */
function drawRequests(scene: Scene, axis: Axis): void {
  const { surface, palette, accent, world, lane } = scene;
  const drawn = [-9, -9];
  for (let request = firstSeen(scene, axis); request <= world.history.count; request++) {
    const x = xOf(scene, axis, world.history.atUs(request));
    const allowed = world.history.number(lane, request, Place.allowed) === 1;
    const row = allowed ? 0 : 1;
    if (x - (drawn[row] ?? 0) < 1.5) continue; // as good as on the same place
    drawn[row] = x;
    if (allowed) surface.disc(x, axis.base + 16, 4, accent);
    else surface.cross(x, axis.base + 34, 3.5, palette.muted);
  }
}

/** Tokens admitted in each window of the clock that can be seen, from the requests that are kept. */
function countWindows(scene: Scene, axis: Axis): Map<number, number> {
  const { world, lane, numbers } = scene;
  const counts = new Map<number, number>();
  const first = Math.floor(world.history.atUs(firstSeen(scene, axis)) / numbers.periodUs) * numbers.periodUs;
  for (let request = world.history.since(first); request <= world.history.count; request++) {
    if (world.history.number(lane, request, Place.allowed) !== 1) continue;
    const window = Math.floor(world.history.atUs(request) / numbers.periodUs);
    counts.set(window, (counts.get(window) ?? 0) + numbers.cost);
  }
  return counts;
}

interface WindowBox {
  x: number;
  count: number;
  height: number; // of the filled part
  current: boolean;
}

function windowBoxes(scene: Scene, axis: Axis): WindowBox[] {
  const { periodUs, limit } = scene.numbers;
  const counts = countWindows(scene, axis);
  const current = Math.floor(scene.world.nowUs / periodUs);
  const boxes: WindowBox[] = [];
  for (let window = current - 3; window <= current; window++) {
    const count = window === current ? peeked(scene, Place.used) : (counts.get(window) ?? 0);
    const height = (Math.min(count, limit) / Math.max(1, limit)) * (axis.base - axis.top);
    boxes.push({ x: xOf(scene, axis, window * periodUs), count, height, current: window === current });
  }
  return boxes;
}

const COUNT_ROOM = 56;

/** How full a window is, in the middle of what can be seen of it, where there is room: in the filled part or just above it.
 * From `solidX` on that part has the full colour; a text stands on one side of it. */
function drawCount(scene: Scene, axis: Axis, { x, count, height, current }: WindowBox, solidX: number): void {
  const { surface, palette, numbers } = scene;
  const [left, right] = [Math.max(x, axis.left), Math.min(x + axis.perPeriod, axis.nowX)];
  if (right - left < COUNT_ROOM || (count === 0 && !current)) return;
  const inside = height > 30;
  const y = axis.base - height + (inside ? 15 : -13);
  const half = COUNT_ROOM / 2;
  let middle = (left + right) / 2;
  if (Math.abs(middle - solidX) < half) middle = solidX - left > right - solidX ? solidX - half : solidX + half;
  const color = inside && middle > solidX ? palette.surface : palette.ink;
  surface.text(`${count} / ${numbers.limit}`, middle, y, { color, weight: 650, align: 'center' });
}

function drawWindows(scene: Scene, axis: Axis, boxes: readonly WindowBox[]): void {
  const { surface, palette, accent } = scene;
  for (const box of boxes) {
    const { x, height, current } = box;
    surface.box(x + 2, axis.top, axis.perPeriod - 4, axis.base - axis.top, 8, palette.sunk, palette.line);
    const fillBox = () => surface.box(x + 2, axis.base - height, axis.perPeriod - 4, height, 8, accent);
    surface.faded(current ? 0.22 : 0.4, fillBox); // what of the window is still to come is pale
    if (current) surface.clipped(0, 0, axis.nowX, surface.height, fillBox);
    surface.stroke(x, axis.top - 6, x, axis.base + 46, palette.line, 1, [3, 3]);
  }
}

export function drawFixedWindow(scene: Scene): void {
  const { surface, palette } = scene;
  const axis = axisOf(scene);
  surface.clipped(axis.left, 0, axis.right, surface.height, () => {
    const boxes = windowBoxes(scene, axis);
    drawWindows(scene, axis, boxes);
    for (const box of boxes) drawCount(scene, axis, box, boxes.find(({ current }) => current)?.x ?? 0);
    drawRequests(scene, axis);
    drawNow(scene, axis);
    const top = { x: axis.nowX, y: axis.top - 8 };
    scene.flights.draw(surface, palette, scene.accent, { x: axis.right + 8, y: 10 }, { x: axis.nowX + 12, y: axis.top },
      { ...top, y: axis.base - 8 });
  });
  drawGauge(scene, surface.width - 58, [{ tokens: peeked(scene, Place.used), strength: 1 }]);
}

/** The period that ends now, as a frame over what it sees. */
function drawFrame(scene: Scene, axis: Axis): void {
  const { surface, palette, numbers, words } = scene;
  const left = axis.nowX - axis.perPeriod;
  surface.box(left, axis.top - 12, axis.perPeriod, axis.base - axis.top + 18, 10, null, palette.ink);
  const label = fill(words.lastPeriod, { per: formatDuration(numbers.periodUs) });
  surface.text(label, left + 4, axis.top - 24, { color: palette.muted, size: 11 });
}

export function drawSlidingCounter(scene: Scene): void {
  const { surface, palette, accent, world } = scene;
  const { period } = world.lane(scene.lane).terms;
  const axis = axisOf(scene);
  const previous = peeked(scene, Place.previous);
  const weight = (period - peeked(scene, Place.elapsed)) / period;
  surface.clipped(axis.left, 0, axis.right, surface.height, () => {
    const boxes = windowBoxes(scene, axis);
    drawWindows(scene, axis, boxes);
    const before = boxes.find(({ current }, i) => !current && boxes[i + 1]?.current);
    if (before && previous > 0) {
      const left = Math.max(before.x + 2, axis.nowX - axis.perPeriod);
      const width = before.x + axis.perPeriod - 2 - left;
      surface.faded(0.75, () => surface.box(left, axis.base - before.height, width, before.height, 4, accent));
      if (width > 40) {
        const text = `× ${weight.toFixed(2)}`;
        surface.text(text, left + width / 2, axis.base - 12, { color: palette.surface, weight: 650, align: 'center' });
      }
    }
    for (const box of boxes) drawCount(scene, axis, box, axis.nowX - axis.perPeriod);
    drawFrame(scene, axis);
    drawRequests(scene, axis);
    drawNow(scene, axis);
    scene.flights.draw(surface, palette, accent, { x: axis.right + 8, y: 10 }, { x: axis.nowX + 12, y: axis.top },
      { x: axis.nowX, y: axis.base - 8 });
  });
  drawGauge(scene, surface.width - 58, [
    { tokens: previous * weight, strength: 0.55 },
    { tokens: peeked(scene, Place.used), strength: 1 },
  ]);
}

/** The log's entries, each at its time, one on another where they came together; what has aged out is pale. */
function drawEntries(scene: Scene, axis: Axis): void {
  const { surface, accent, world, lane, numbers } = scene;
  const height = axis.base - axis.top;
  const radius = Math.max(2, Math.min(8, height / Math.max(8, numbers.limit) / 2));
  let lastX = -99;
  let level = 0;
  for (let request = firstSeen(scene, axis); request <= world.history.count; request++) {
    if (world.history.number(lane, request, Place.allowed) !== 1) continue;
    const atUs = world.history.atUs(request);
    const x = xOf(scene, axis, atUs);
    level = x - lastX < 2 * radius ? level + 1 : 0;
    if (level === 0) lastX = x;
    const y = axis.base - radius - 3 - ((level * 2 * radius) % Math.max(1, height - 2 * radius));
    const live = atUs > world.nowUs - numbers.periodUs;
    surface.faded(live ? 1 : 0.22, () => surface.disc(x, y, radius - 0.5, accent));
  }
}

export function drawSlidingLog(scene: Scene): void {
  const { surface, palette, accent } = scene;
  const axis = axisOf(scene);
  surface.clipped(axis.left, 0, axis.right, surface.height, () => {
    const frame = axis.nowX - axis.perPeriod;
    surface.box(frame, axis.top - 12, axis.perPeriod, axis.base - axis.top + 18, 10, palette.sunk);
    surface.stroke(axis.left, axis.base, axis.nowX, axis.base, palette.line, 1);
    drawEntries(scene, axis);
    drawFrame(scene, axis);
    drawRequests(scene, axis);
    drawNow(scene, axis);
    scene.flights.draw(surface, palette, accent, { x: axis.right + 8, y: 10 }, { x: axis.nowX + 12, y: axis.top },
      { x: axis.nowX, y: axis.base - 8 });
  });
  drawGauge(scene, surface.width - 58, [{ tokens: peeked(scene, Place.used), strength: 1 }]);
}
