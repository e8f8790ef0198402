// What somebody should know before all else.
import type { Status } from './api';
import { type History, Trouble } from './history';

export type Alert =
  | { kind: 'starting' | 'draining' }
  | { kind: 'storeDown'; why: string; allowed: number; denied: number }
  | { kind: 'storePartly'; why: string; up: number; of: number }
  | { kind: 'storeSlow'; timeouts: number }
  | { kind: 'storeRefuses'; why: string; checks: number; allowed: number; denied: number }
  | { kind: 'versions'; versions: string }
  | { kind: 'evicting'; keys: number }
  | { kind: 'crowded'; connections: number };

/** The worst first. Rates are those of the last seconds, so what is over is not told any more. */
export function alertsOf(status: Status, history: History): Alert[] {
  const { store, stage } = status;
  const alerts: Alert[] = [];
  const rate = (trouble: Trouble) => history.trouble(trouble) || 0;
  const fallbacks = { allowed: rate(Trouble.fallbacksAllowed), denied: rate(Trouble.fallbacksDenied) };
  if (stage !== 'serving') alerts.push({ kind: stage });
  if (store && !store.up && store.workers_up === 0) {
    alerts.push({ kind: 'storeDown', why: store.why, ...fallbacks });
  } else if (store && !store.up) {
    alerts.push({ kind: 'storePartly', why: store.why, up: store.workers_up, of: store.workers });
  } else if (store && rate(Trouble.timeouts) > 0) {
    alerts.push({ kind: 'storeSlow', timeouts: rate(Trouble.timeouts) });
  }
  if (store && rate(Trouble.refusals) > 0) {
    alerts.push({ kind: 'storeRefuses', why: store.last_error, checks: rate(Trouble.refusals), ...fallbacks });
  }
  if (rate(Trouble.evictedUsed) > 0) alerts.push({ kind: 'evicting', keys: rate(Trouble.evictedUsed) });
  if (rate(Trouble.turnedAway) > 0) alerts.push({ kind: 'crowded', connections: rate(Trouble.turnedAway) });
  if (store && store.versions.length > 1) {
    alerts.push({ kind: 'versions', versions: store.versions.map(({ version, count }) => `${version} (${count})`).join(', ') });
  }
  return alerts;
}
