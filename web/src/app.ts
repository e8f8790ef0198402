// The page: its head, its language and theme, and the view that the address asks for.
import { readSession } from './dashboard/api';
import { Dashboard } from './dashboard/view/dashboard';
import { h } from './dom';
import { speak } from './format';
import { parseRoute, replaceRoute, routeTo, type View } from './router';
import { Law } from './simulator/law';
import { currentTheme, nextTheme, type Theme, useTheme, whenThemeTurns } from './theme';
import { Simulator } from './view/simulator';
import { fill, keepLanguage, type Language, LANGUAGES, preferredLanguage, wordsOf, type Words } from './words';

const reduced = matchMedia('(prefers-reduced-motion: reduce)');

/** What the page does with any of its views. */
interface Shown {
  element: HTMLElement;
  render(words: Words): void;
  repaint(): void;
  adopt(query: URLSearchParams): void;
  show(shown: boolean): void;
}

/** Is the page served by a laju? Otherwise there is nothing that a dashboard could show. */
async function hasDashboard(): Promise<boolean> {
  return readSession().then(() => true, () => false);
}

class Page {
  private language: Language = preferredLanguage();
  private theme: Theme = currentTheme();
  private offered: readonly View[] = [];
  private view: View | null = null;
  private readonly made: Partial<Record<View, Shown>> = {};
  private readonly kept: Record<View, string> = { dashboard: '', simulator: '' }; // what each view's address held last
  private readonly place = h('main', { id: 'main', tabindex: -1 });
  private readonly head = h('header', { class: 'head' });
  private readonly intro = h('div', { class: 'intro' });

  constructor() {
    document.body.replaceChildren(this.head, this.place);
    this.speak(this.language);
    useTheme(this.theme);
    whenThemeTurns(() => this.paint(this.theme));
    addEventListener('hashchange', () => void this.go());
  }

  async start(): Promise<void> {
    this.place.replaceChildren(h('p', { class: 'notice', role: 'status' }, wordsOf(this.language).loading));
    this.offered = (await hasDashboard()) ? ['dashboard', 'simulator'] : ['simulator'];
    await this.go();
  }

  /** To where the address points. */
  private async go(): Promise<void> {
    if (this.offered.length === 0) return;
    const { view, query } = parseRoute(location.hash, this.offered);
    const before = this.view;
    this.view = view;
    this.kept[view] = query.toString();
    this.renderHead();
    if (before !== null && before !== view) this.made[before]?.show(false);
    const known = this.made[view];
    if (known && before === view) {
      known.adopt(query);
      return;
    }
    const shown = known ?? (await this.make(view, query));
    if (this.view !== view || !shown) return;
    if (known) known.adopt(query);
    this.place.replaceChildren(...(view === 'simulator' ? [this.intro] : []), shown.element);
    shown.show(true);
    document.title = wordsOf(this.language)[`title-${view}`];
    if (before !== null) scrollTo(0, 0);
  }

  private async make(view: View, query: URLSearchParams): Promise<Shown | null> {
    const keep = (kept: string) => {
      this.kept[view] = kept;
      if (this.view === view) replaceRoute(view, kept);
      this.renderHead();
    };
    const made = view === 'dashboard' ? new Dashboard(query, wordsOf(this.language), keep) : await this.makeSimulator(query, keep);
    if (made) this.made[view] = made;
    made?.render(wordsOf(this.language)); // in the language that was chosen meanwhile
    return made;
  }

  private async makeSimulator(query: URLSearchParams, keep: (kept: string) => void): Promise<Simulator | null> {
    const words = wordsOf(this.language);
    this.place.replaceChildren(this.intro, h('p', { class: 'notice', role: 'status' }, words.loading));
    try {
      const law = await Law.load('sim.wasm');
      return new Simulator(law, query, words, () => !reduced.matches, keep);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.place.replaceChildren(this.intro, h('p', { class: 'error', role: 'alert' }, fill(words.failed, { why })));
      return null;
    }
  }

  private speak(language: Language): void {
    this.language = language;
    const words = wordsOf(language);
    speak(language);
    document.documentElement.lang = language;
    document.title = words[`title-${this.view ?? 'simulator'}`];
    this.intro.replaceChildren(h('h1', {}, words.heading), h('p', {}, words.intro));
    for (const shown of Object.values(this.made)) shown.render(words);
    this.renderHead();
  }

  private paint(theme: Theme): void {
    this.theme = theme;
    useTheme(theme);
    for (const shown of Object.values(this.made)) shown.repaint();
    this.renderHead();
  }

  private renderHead(): void {
    const words = wordsOf(this.language);
    const names = { en: words.english, id: words.indonesian };
    const themes = { auto: words.themeAuto, light: words.themeLight, dark: words.themeDark };
    const signs = { auto: '◐', light: '☀', dark: '☾' };
    const skip = () => this.place.focus();
    const focused = this.head.contains(document.activeElement) ? document.activeElement?.getAttribute('data-do') : null;
    this.head.replaceChildren(
      h('a', { class: 'skip', href: '#main', onclick: (event) => { event.preventDefault(); skip(); } }, words.skip),
      h('p', { class: 'brand' }, h('span', { class: 'mark', 'aria-hidden': 'true' }, h('i'), h('i'), h('i')), h('strong', {}, 'laju'),
        h('span', { class: 'muted' }, words.tagline)),
      h('nav', { class: 'views', 'aria-label': words.views, hidden: this.offered.length < 2 }, ...this.offered.map((view) =>
        h('a', { href: routeTo(view, this.kept[view]), 'data-do': `view-${view}`, 'aria-current': view === this.view && 'page' },
          words[view]))),
      h('div', { class: 'row', role: 'group', 'aria-label': words.language }, ...LANGUAGES.map((language) =>
        h('button', { type: 'button', class: 'quiet', lang: language, title: names[language],
          'aria-label': `${language.toUpperCase()}: ${names[language]}`,
          'aria-pressed': String(language === this.language), 'data-do': `language-${language}`,
          onclick: () => { keepLanguage(language); this.speak(language); } }, language.toUpperCase()))),
      h('button', { type: 'button', class: 'quiet', 'data-do': 'theme', 'aria-label': themes[this.theme], title: themes[this.theme],
        onclick: () => this.paint(nextTheme(this.theme)) }, signs[this.theme]));
    if (focused) this.focus(focused);
  }

  /** A control that was built anew keeps the keyboard. */
  private focus(name: string): void {
    this.head.querySelector<HTMLElement>(`[data-do=${name}]`)?.focus();
  }
}

void new Page().start();
