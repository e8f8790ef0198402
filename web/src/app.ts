// The page: its head, its language and theme, and the view that the address asks for.
import { h } from './dom';
import { speak } from './format';
import { parseRoute, replaceRoute } from './router';
import { Law } from './simulator/law';
import { currentTheme, nextTheme, type Theme, useTheme, whenThemeTurns } from './theme';
import { Simulator } from './view/simulator';
import { fill, keepLanguage, type Language, LANGUAGES, preferredLanguage, wordsOf } from './words';

const reduced = matchMedia('(prefers-reduced-motion: reduce)');

class Page {
  private language: Language = preferredLanguage();
  private theme: Theme = currentTheme();
  private simulator: Simulator | null = null;
  private readonly place = h('main', { id: 'main', tabindex: -1 });
  private readonly head = h('header', { class: 'head' });
  private readonly intro = h('div', { class: 'intro' });

  constructor() {
    document.body.replaceChildren(this.head, this.place);
    this.speak(this.language);
    useTheme(this.theme);
    whenThemeTurns(() => this.paint(this.theme));
    addEventListener('hashchange', () => this.simulator?.adopt(parseRoute(location.hash).query));
  }

  async start(): Promise<void> {
    const words = wordsOf(this.language);
    this.place.replaceChildren(this.intro, h('p', { class: 'notice', role: 'status' }, words.loading));
    try {
      const law = await Law.load('sim.wasm');
      const { view, query } = parseRoute(location.hash);
      this.simulator = new Simulator(law, query, wordsOf(this.language), () => !reduced.matches, (kept) => replaceRoute(view, kept));
      this.place.replaceChildren(this.intro, this.simulator.element);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.place.replaceChildren(this.intro, h('p', { class: 'error', role: 'alert' }, fill(words.failed, { why })));
    }
  }

  private speak(language: Language): void {
    this.language = language;
    const words = wordsOf(language);
    speak(language);
    document.documentElement.lang = language;
    document.title = words.title;
    this.intro.replaceChildren(h('h1', {}, words.heading), h('p', {}, words.intro));
    this.simulator?.render(words);
    this.renderHead();
  }

  private paint(theme: Theme): void {
    this.theme = theme;
    useTheme(theme);
    this.simulator?.repaint();
    this.renderHead();
  }

  private renderHead(): void {
    const words = wordsOf(this.language);
    const names = { en: words.english, id: words.indonesian };
    const themes = { auto: words.themeAuto, light: words.themeLight, dark: words.themeDark };
    const signs = { auto: '◐', light: '☀', dark: '☾' };
    const skip = () => this.place.focus();
    this.head.replaceChildren(
      h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); skip(); } }, words.skip),
      h('p', { class: 'brand' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, h('i'), h('i'), h('i')), h('strong', {}, 'laju'),
        h('span', { class: 'muted' }, words.tagline)),
      h('div', { class: 'row', role: 'group', 'aria-label': words.language }, ...LANGUAGES.map((language) =>
        h('button', { type: 'button', class: 'quiet', lang: language, title: names[language], 'aria-label': `${language.toUpperCase()}: ${names[language]}`,
          'aria-pressed': String(language === this.language), 'data-do': `language-${language}`,
          onclick: () => { keepLanguage(language); this.speak(language); this.focus(`language-${language}`); } },
          language.toUpperCase()))),
      h('button', { type: 'button', class: 'quiet', 'data-do': 'theme', 'aria-label': themes[this.theme], title: themes[this.theme],
        onclick: () => { this.paint(nextTheme(this.theme)); this.focus('theme'); } }, signs[this.theme]));
  }

  /** A control that was built anew keeps the keyboard. */
  private focus(name: string): void {
    this.head.querySelector<HTMLElement>(`[data-do=${name}]`)?.focus();
  }
}

void new Page().start();
