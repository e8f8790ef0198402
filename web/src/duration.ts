// Durations as the configuration has them: a whole number and a unit.
const UNITS_US: readonly (readonly [unit: string, us: number])[] = [
  ['w', 604_800_000_000],
  ['d', 86_400_000_000],
  ['h', 3_600_000_000],
  ['m', 60_000_000],
  ['s', 1_000_000],
  ['ms', 1_000],
  ['us', 1],
];

/** Microseconds, or null where it is no duration. */
export function parseDuration(text: string): number | null {
  const match = /^(\d{1,16})(us|ms|s|m|h|d|w)$/.exec(text.trim());
  const unit = UNITS_US.find(([name]) => name === match?.[2]);
  return match && unit ? Number(match[1]) * unit[1] : null;
}

export function formatDuration(us: number): string {
  const [unit, size] = UNITS_US.find(([, size]) => us >= size && us % size === 0) ?? ['us', 1];
  return `${us / size}${unit}`;
}
