// The page's views by the address's hash: #/simulator?limit=10.

export const VIEWS = ['dashboard', 'simulator'] as const;
export type View = (typeof VIEWS)[number];

export interface Route {
  view: View;
  query: URLSearchParams;
}

/** `offered`: the views that there are here; the first is where no other is asked for. */
export function parseRoute(hash: string, offered: readonly View[]): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return { view: offered.find((view) => view === path) ?? offered[0] ?? 'simulator', query: new URLSearchParams(query) };
}

export const routeTo = (view: View, query: string): string => `#/${view}${query === '' ? '' : `?${query}`}`;

/** Changes the address without a new entry in the history: going back leaves the view, not the last keystroke. */
export function replaceRoute(view: View, query: string): void {
  history.replaceState(null, '', routeTo(view, query));
}
