// Numbers and times for people, in the page's language.
import type { Language } from './words';

let language: Language = 'en';

/** Decides how all that follows is written. */
export function speak(wanted: Language): void {
  language = wanted;
}

export function formatNumber(value: number, digits = 0): string {
  return value.toLocaleString(language, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const trimmed = (value: number, digits: number): string =>
  value.toLocaleString(language, { maximumFractionDigits: digits });

/** A length of time, as exactly as one reads: 850 ms, 1.25 s, 2 min 5 s, 3 h 20 min, 2 d 4 h. */
export function formatSpan(us: number): string {
  if (us < 1000) return `${trimmed(us, 0)} µs`;
  if (us < 1_000_000) return `${trimmed(us / 1000, us < 10_000 ? 2 : us < 100_000 ? 1 : 0)} ms`;
  const seconds = us / 1_000_000;
  if (seconds < 60) return `${trimmed(seconds, 2)} s`;
  const parts: readonly (readonly [number, string])[] = [[86_400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const whole = Math.floor(seconds);
  const first = parts.findIndex(([size]) => whole >= size);
  const [size = 1, unit = 's'] = parts[first] ?? [];
  const [nextSize = 1, nextUnit = ''] = parts[first + 1] ?? [];
  const rest = Math.floor((whole % size) / nextSize);
  return `${Math.floor(whole / size)} ${unit}${rest > 0 && nextUnit ? ` ${rest} ${nextUnit}` : ''}`;
}

/** A moment of a run: since its time 0, or, where the times are somebody's own, the date and time in UTC. */
export function formatMoment(us: number, own: boolean): string {
  if (own && us > 86_400_000_000 * 365) return new Date(us / 1000).toISOString().replace('T', ' ').replace('Z', '');
  const seconds = us / 1_000_000;
  return seconds < 600 ? `${formatNumber(seconds, 2)} s` : formatSpan(us);
}

/** How often a second: to a tenth where that says something, and a dash where it is not known. */
export function formatRate(perSecond: number): string {
  if (!Number.isFinite(perSecond)) return '–';
  return trimmed(perSecond, perSecond < 100 ? 1 : 0);
}

/** 0.4 %, 12 %: two digits that count. */
export function formatShare(share: number): string {
  return `${trimmed(share * 100, share > 0 && share < 0.1 ? 1 : 0)} %`;
}

/** As short as an axis needs it: 12K, 1.5M. */
export function formatShort(value: number): string {
  return value.toLocaleString(language, { notation: 'compact', maximumFractionDigits: 1 });
}

export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${trimmed(bytes / 1024 ** step, 1)} ${units[step]}`;
}

/** The time of day, to the second. */
export function formatClock(ms: number): string {
  return new Date(ms).toLocaleTimeString(language === 'en' ? 'en-GB' : language, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}
