// Lines whose fields have names: JSON objects, and CSV below a line that names its columns. The names are those that servers and
// proxies give them, as `laju replay` knows them, the first before the others.
const TIMES = ['time', 'timestamp', '@timestamp', 'ts', 'time_iso8601', 'msec', 'time_local', 'datetime', 'StartUTC'];
const CLIENTS = ['client_ip', 'remote_addr', 'remote_ip', 'ip', 'client', 'clientip', 'ClientHost'];
const SEPARATORS = [',', ';', '\t'];

export interface Told {
  time: string;
  client: string; // '' where there is none
}

type Named = Readonly<Record<string, unknown>>;

const isNamed = (value: unknown): value is Named => typeof value === 'object' && value !== null && !Array.isArray(value);

function first(object: Named, names: readonly string[]): string {
  const value = names.map((name) => object[name]).find((one) => typeof one === 'string' || typeof one === 'number');
  return value === undefined ? '' : String(value);
}

/** What a JSON object tells, itself or in an object `request` of it, or null where the line is none. */
export function ofJson(line: string): Told | null {
  let object: unknown;
  try {
    object = JSON.parse(line);
  } catch {
    return null;
  }
  if (!isNamed(object)) return null;
  const request = isNamed(object['request']) ? object['request'] : {};
  return { time: first(object, TIMES) || first(request, TIMES), client: first(object, CLIENTS) || first(request, CLIENTS) };
}

/** A line's fields: between quotes a separator is text, and two quotes are one. */
function split(line: string, separator: string): string[] {
  if (!line.includes('"')) return line.split(separator).map((field) => field.trim());
  const fields = [''];
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const last = fields.length - 1;
    const char = line.charAt(i);
    if (char === '"' && quoted && line.charAt(i + 1) === '"') fields[last] += line.charAt(i++);
    else if (char === '"') quoted = !quoted;
    else if (char === separator && !quoted) fields.push('');
    else fields[last] += char;
  }
  return fields.map((field) => field.trim());
}

/** The columns that the first line of CSV names. */
export class Columns {
  private constructor(
    private readonly separator: string,
    private readonly time: number,
    private readonly client: number,
  ) {}

  /** Null where the line names no column of times. */
  static of(line: string): Columns | null {
    for (const separator of SEPARATORS) {
      const names = split(line, separator);
      const place = (known: readonly string[]) => names.indexOf(known.find((name) => names.includes(name)) ?? '');
      if (place(TIMES) >= 0) return new Columns(separator, place(TIMES), place(CLIENTS));
    }
    return null;
  }

  tell(line: string): Told {
    const fields = split(line, this.separator);
    return { time: fields[this.time] ?? '', client: fields[this.client] ?? '' };
  }
}
