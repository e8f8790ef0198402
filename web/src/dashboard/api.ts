// The admin door, as docs/openapi.yaml has it: what it tells, and how it is asked.

export interface Counts {
  allowed: number;
  denied: number;
  shadow_denied: number;
  error: number;
}

export interface Latency {
  window_s: number;
  count: number;
  p50_us: number;
  p99_us: number;
}

export interface StoreStatus {
  url: string;
  up: boolean;
  why: string;
  last_error: string;
  workers: number; // those that ask it: the admin door's is one of them
  workers_up: number;
  servers: number;
  servers_up: number;
  inflight: number;
  checks: number;
  commands: number;
  failures: { timeout: number; overflow: number; breaker: number; refused: number; other: number };
  breaker_opened: number;
  connects: number;
  connect_failures: number;
  fallbacks_allowed: number;
  fallbacks_denied: number;
  remembered: number;
  given_back: number;
  latency: Latency;
  nodes: number;
  versions: { version: string; count: number }[];
}

export interface TableStatus {
  slots: number;
  keys: number;
  evicted_fresh: number;
  evicted_used: number;
  logs_bytes: number;
  logs_used_bytes: number;
  logs_evicted_fresh: number;
  logs_evicted_used: number;
}

export interface Status {
  version: string;
  now_ms: number;
  started_ms: number;
  stage: 'starting' | 'serving' | 'draining';
  workers: number;
  requests: Record<string, { allowed: number; denied: number; error: number }>;
  checks: Counts;
  rule_count: number;
  rules: (Counts & { name: string })[];
  latency: Latency;
  connections: { open: number; accepted: number; refused: number; closed: Record<string, number> };
  table: TableStatus;
  reloads: { done: number; refused: number };
  overrides: number;
  store: StoreStatus | null;
}

export interface Rule {
  name: string;
  algorithm: 'token-bucket' | 'leaky-bucket' | 'fixed-window' | 'sliding-window-counter' | 'sliding-window-log';
  limit: number;
  burst: number | null;
  per: string;
  mode: 'embedded' | 'exact';
  on_store_error: 'allow' | 'deny' | 'local';
  shadow: boolean;
  secret: boolean;
  match: { none: boolean; hosts: string[]; paths: string[]; methods: string[] };
  key: string[];
  group: string[];
  counts: Counts;
}

export interface Numbers {
  limit: number;
  burst: number | null;
  expires_ms: number;
}

export interface Override extends Numbers {
  rule: string;
  key: string;
  masked: boolean;
}

export interface Key {
  rule: string;
  key: string;
  masked: boolean;
  limit: number;
  remaining: number;
  more_after_ms: number;
  reset_after_ms: number;
  delay_ms: number;
  source?: 'fallback';
  override: Numbers | null;
}

export interface Refused {
  rule: string;
  key: string;
  masked: boolean;
  cut: boolean;
  denied: number;
  over: number;
  last_ms: number;
}

/** A key as a check names it, which the door shows masked where it is a secret. */
export interface Name {
  rule: string;
  key: string;
  group: string;
}

export interface NewOverride {
  limit?: number | string;
  burst?: number | string;
  expires_in: string;
}

/** An answer that is none: `field` names what of the request is wrong, `status` is 0 where no answer came. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    detail: string,
    readonly field: string | null = null,
  ) {
    super(detail);
  }
}

const TIMEOUT_MS = 10_000;

async function problemOf(response: Response): Promise<Problem> {
  const told: unknown = await response.json().catch(() => null);
  const { detail, field } = (told ?? {}) as { detail?: unknown; field?: unknown };
  return new Problem(response.status, typeof detail === 'string' ? detail : `${response.status} ${response.statusText}`,
    typeof field === 'string' ? field : null);
}

async function ask<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
  const options: RequestInit = { method, cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) };
  if (body !== undefined) Object.assign(options, { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  const response = await fetch(path, options).catch((error: unknown) => {
    throw new Problem(0, `no answer (${error instanceof Error ? error.message : String(error)})`);
  });
  if (!response.ok) throw await problemOf(response);
  return (await response.json().catch(() => {
    throw new Problem(response.status, `${path}: no JSON`);
  })) as T;
}

function query({ rule, key, group }: Name): string {
  const named = new URLSearchParams({ rule, key });
  if (group !== '') named.set('group', group);
  return named.toString();
}

// A key's override holds in each of its groups.
const everywhere = (name: Name): string => query({ ...name, group: '' });

export const EVENTS = 'v1/events';
export const readSession = () => ask<{ needed: boolean; open: boolean }>('v1/session');
export const login = (token: string) => ask<unknown>('v1/session', 'POST', { token });
export const logout = () => ask<unknown>('v1/session', 'DELETE');
export const readStatus = () => ask<Status>('v1/status');
export const readRules = () => ask<{ rules: Rule[]; others: Counts }>('v1/rules');
export const readTop = (limit: number) => ask<{ half_life_s: number; keys: Refused[] }>(`v1/top?limit=${limit}`);
export const readOverrides = () => ask<{ overrides: Override[] }>('v1/overrides');
export const readKey = (name: Name) => ask<Key>(`v1/keys?${query(name)}`);
export const resetKey = (name: Name) => ask<{ known: boolean }>(`v1/keys?${query(name)}`, 'DELETE');
export const putOverride = (name: Name, numbers: NewOverride) => ask<Override>(`v1/keys?${everywhere(name)}`, 'PUT', numbers);
export const deleteOverride = (name: Name) => ask<{ known: boolean }>(`v1/overrides?${everywhere(name)}`, 'DELETE');
