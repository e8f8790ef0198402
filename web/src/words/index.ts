// All words that the page shows, in one file for each language.
import { keep, kept } from '../kept';
import { en, type Words } from './en';
import { id } from './id';

export type { Words };

export const LANGUAGES = ['en', 'id'] as const;
export type Language = (typeof LANGUAGES)[number];

const all: Readonly<Record<Language, Words>> = { en, id };
const KEPT = 'laju.language';

export const wordsOf = (language: Language): Words => all[language];

/** What was chosen before, otherwise the first of the browser's languages that there is. */
export function preferredLanguage(): Language {
  const wanted = [kept(KEPT) ?? '', ...navigator.languages];
  const short = wanted.map((tag) => tag.toLowerCase().split('-')[0]);
  return LANGUAGES.find((language) => short.find((tag) => LANGUAGES.some((known) => known === tag)) === language) ?? 'en';
}

export function keepLanguage(language: Language): void {
  keep(KEPT, language);
}

/** Puts values in the places of a text: fill('{n} of {of}', {n: 1, of: 2}). */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}
