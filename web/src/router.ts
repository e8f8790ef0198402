// The page's views by the address's hash: #/simulator?limit=10. A view that is not built has no entry here.

export const VIEWS = ['simulator'] as const;
export type View = (typeof VIEWS)[number];

export interface Route {
  view: View;
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return { view: VIEWS.find((view) => view === path) ?? VIEWS[0], query: new URLSearchParams(query) };
}

/** Changes the address without a new entry in the history: going back leaves the page, not the last keystroke. */
export function replaceRoute(view: View, query: string): void {
  history.replaceState(null, '', `#/${view}?${query}`);
}
