// Light or dark: as the system says, or as somebody chose. The style sheet knows only the outcome.
import { keep, kept } from './kept';

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEPT = 'laju.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

export const currentTheme = (): Theme => THEMES.find((theme) => theme === kept(KEPT)) ?? 'auto';

export const nextTheme = (theme: Theme): Theme => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';

export function useTheme(theme: Theme): void {
  keep(KEPT, theme);
  const outcome = theme === 'auto' ? (dark.matches ? 'dark' : 'light') : theme;
  document.documentElement.setAttribute('data-theme', outcome);
}

export function whenThemeTurns(turned: () => void): void {
  dark.addEventListener('change', turned);
}
