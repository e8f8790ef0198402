// What a browser keeps for the page from one visit to the next. Where it may keep nothing, the page forgets.

export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // forbidden, or full: nothing depends on it
  }
}
