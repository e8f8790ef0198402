// Somebody's own traffic: the times in an access log or a list, a line a request. Pure; nothing leaves the page.
import { Columns, ofJson, type Told } from './fields';

export const OWN_BYTES_MOST = 50 * 1024 * 1024;
export const OWN_LINES_MOST = 1_000_000;
export const SAMPLES_MOST = 5; // unreadable lines that are shown
export const CLIENTS_MOST = 20; // of the busiest, to choose from
export const LINE_CHARS_MOST = 65_536; // what is longer is no line of a log
const SAMPLE_CHARS = 120;
const CLIENTS_KNOWN_MOST = 100_000; // later ones are only part of everyone
const TIME_MOST_US = 2 ** 53 - 1;

export interface Request {
  atUs: number;
  client: string; // '' where the line names none
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
// 203.0.113.7 - - [10/Oct/2025:13:55:36 +0700] "GET / HTTP/1.1" 200 2326 "-" "curl/8"
const COMBINED = /^(\S+) \S+ .*?\[(\d{2}\/[A-Z][a-z]{2}\/\d{4}:[^\]]*)\]/;
const LOCAL = /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,6}))? ([+-]\d{4})$/;
const ISO = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?$/;
const EPOCH = /^\d{1,19}(\.\d{1,9})?$/;

const fractionUs = (digits: string | undefined): number => (digits ? Number(digits.slice(0, 6).padEnd(6, '0')) : 0);

/** Date.UTC takes a 31st of February for a day of March: a time that comes back changed was none. */
function utcUs(parts: readonly number[], digits: string | undefined, offsetMinutes: number): number | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const ms = Date.UTC(year, month, day, hour, minute, second);
  const back = new Date(ms);
  const same = back.getUTCMonth() === month && back.getUTCDate() === day && hour < 24 && minute < 60 && second <= 60;
  return same ? (ms - offsetMinutes * 60_000) * 1000 + fractionUs(digits) : null;
}

function offsetOf(text: string | undefined): number {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(text ?? '');
  return match ? (match[1] === '-' ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3])) : 0;
}

/** Seconds, milliseconds, microseconds or nanoseconds since the epoch, told apart by their size: 10^11 seconds are the year 5138. */
function epochUs(text: string): number {
  const value = Number(text);
  if (value < 1e11) return Math.round(value * 1e6);
  if (value < 1e14) return Math.round(value * 1000);
  return Math.floor(value < 1e17 ? value : value / 1000);
}

function localUs(text: string): number | null {
  const local = LOCAL.exec(text);
  if (!local) return null;
  const [, day, month = '', year, hour, minute, second, digits, zone] = local;
  return utcUs([Number(year), MONTHS.indexOf(month), Number(day), Number(hour), Number(minute), Number(second)], digits,
    offsetOf(zone));
}

function timeUs(text: string): number | null {
  if (EPOCH.test(text)) return epochUs(text);
  const iso = ISO.exec(text);
  if (!iso) return localUs(text);
  const [, year, month, day, hour, minute, second, digits, zone] = iso;
  return utcUs([Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)], digits,
    offsetOf(zone));
}

function toldBy(text: string, columns: Columns | null): Told | null {
  if (columns) return columns.tell(text);
  if (text.startsWith('{')) return ofJson(text);
  const [, client = '', time = text] = COMBINED.exec(text) ?? [];
  return { time, client };
}

/** One line, of CSV where there are columns, or null where it tells no time. A time without a zone is UTC. */
export function parseLine(line: string, columns: Columns | null = null): Request | null {
  const told = line.length > LINE_CHARS_MOST ? null : toldBy(line.trim(), columns);
  const atUs = told && timeUs(told.time);
  return atUs !== null && atUs >= 0 && atUs <= TIME_MOST_US ? { atUs, client: told?.client ?? '' } : null;
}

/** Takes text in pieces, as a file is read, and keeps what its lines tell, within the bounds above. */
export class OwnTraffic {
  lines = 0;
  bad = 0;
  full = false; // there was more than OWN_LINES_MOST
  readonly samples: string[] = [];
  private times = new Float64Array(1024);
  private clientOf = new Int32Array(1024); // a client's number; 0 is nobody in particular
  private readonly clients = new Map<string, number>();
  private readonly counts: number[] = [0];
  private kept = 0;
  private rest = '';
  private columns: Columns | null = null;

  feed(piece: string): void {
    const lines = (this.rest + piece).split('\n');
    this.rest = (lines.pop() ?? '').slice(0, LINE_CHARS_MOST + 1); // one more than is read: it stays too long
    for (const line of lines) this.line(line);
  }

  end(): void {
    if (this.rest) this.line(this.rest);
    this.rest = '';
  }

  /** The busiest clients, most first. */
  busiest(): readonly { client: string; count: number }[] {
    return [...this.clients]
      .map(([client, number]) => ({ client, count: this.counts[number] ?? 0 }))
      .sort((a, b) => b.count - a.count || (a.client < b.client ? -1 : 1))
      .slice(0, CLIENTS_MOST);
  }

  /** All times, or one client's, in order: a log is written when requests end, not when they come. */
  timesOf(client: string | null): Float64Array {
    const number = client === null ? null : this.clients.get(client);
    const all = this.times.subarray(0, this.kept);
    const chosen = number === null ? all.slice() : all.filter((_, i) => this.clientOf[i] === number);
    return chosen.sort();
  }

  get count(): number {
    return this.kept;
  }

  private line(line: string): void {
    if (line.trim() === '' || this.full) return;
    if (this.lines === OWN_LINES_MOST) {
      this.full = true;
      return;
    }
    if (this.lines === 0 && !this.columns) {
      this.columns = Columns.of(line.trim());
      if (this.columns) return;
    }
    this.lines++;
    const request = parseLine(line, this.columns);
    if (request) {
      this.keep(request);
      return;
    }
    this.bad++;
    if (this.samples.length < SAMPLES_MOST) this.samples.push(line.trim().slice(0, SAMPLE_CHARS));
  }

  private keep({ atUs, client }: Request): void {
    if (this.kept === this.times.length) {
      const times = new Float64Array(2 * this.kept);
      const clientOf = new Int32Array(2 * this.kept);
      times.set(this.times);
      clientOf.set(this.clientOf);
      this.times = times;
      this.clientOf = clientOf;
    }
    const number = this.numberOf(client);
    this.times[this.kept] = atUs;
    this.clientOf[this.kept] = number;
    this.counts[number] = (this.counts[number] ?? 0) + 1;
    this.kept++;
  }

  private numberOf(client: string): number {
    if (client === '') return 0;
    const known = this.clients.get(client);
    if (known !== undefined || this.clients.size >= CLIENTS_KNOWN_MOST) return known ?? 0;
    const number = this.clients.size + 1;
    this.clients.set(client, number);
    return number;
  }
}
