// The rule and the traffic.
import { h } from '../dom';
import { formatDuration, parseDuration } from '../duration';
import { formatNumber } from '../format';
import { ALGORITHMS, isBucket, type Law } from '../simulator/law';
import type { Run } from '../simulator/run';
import { BOUNDS, fittingSpeed, isWhole, type Numeric, parseNumber, PERIOD_US, type Settings } from '../simulator/settings';
import { TRAFFIC, type TrafficKind } from '../simulator/traffic';
import { fill, type Words } from '../words';
import { Field } from './field';

const PERIODS = ['1s', '10s', '1m', '1h', '1d'];

export class Controls {
  readonly element: HTMLElement;
  private readonly fields: Readonly<Record<Numeric | 'per', Field>>;
  private readonly kind: HTMLSelectElement;
  private readonly algorithm: HTMLSelectElement;
  private readonly algorithmField: HTMLElement;

  constructor(
    private readonly run: Run,
    private readonly law: Law,
    private readonly words: Words,
    private readonly changed: (part: Partial<Settings>) => void,
  ) {
    this.fields = {
      limit: this.number('limit', words.limit, words.limitHint),
      per: new Field({ name: 'per', label: words.per, hint: words.perHint, numeric: false, suggestions: PERIODS,
        typed: (text) => this.period(text) }),
      burst: this.number('burst', words.burst, words.burstHint),
      cost: this.number('cost', words.cost, words.costHint),
      rate: this.number('rate', words.rate, words.rateHint),
      pods: this.number('pods', words.podsCount, words.podsHint),
      seed: this.number('seed', words.seed, words.seedHint),
    };
    this.kind = this.choice('field-traffic', TRAFFIC.map((kind) => [kind, words[kind]]), (value) =>
      changed({ traffic: value as TrafficKind }));
    this.algorithm = this.choice('field-algorithm', ALGORITHMS.map((name) => [name, words[name]]), (value) =>
      changed({ algorithm: value as Settings['algorithm'] }));
    const choiceField = (label: string, select: HTMLSelectElement) =>
      h('div', { class: 'field wide' }, h('label', { for: select.id }, label), select);
    this.algorithmField = choiceField(words.algorithm, this.algorithm);
    const { limit, per, burst, cost, rate, pods, seed } = this.fields;
    this.element = h('div', { class: 'controls' },
      h('fieldset', { class: 'card' }, h('legend', {}, words.rule), this.algorithmField, limit.element, per.element,
        burst.element, cost.element),
      h('fieldset', { class: 'card' }, h('legend', {}, words.trafficHeading), choiceField(words.traffic, this.kind),
        rate.element, pods.element, seed.element));
  }

  /** Shows the run's settings. */
  update(): void {
    const { settings } = this.run;
    for (const name of ['limit', 'burst', 'cost', 'rate', 'pods', 'seed'] as const) {
      this.fields[name].show(String(settings[name]));
    }
    this.fields.per.show(formatDuration(settings.periodUs));
    this.fields.burst.enabled = isBucket(settings.algorithm) || settings.show === 'compare';
    this.fields.rate.visible = ['steady', 'poisson', 'bot'].includes(settings.traffic);
    this.fields.seed.visible = ['poisson', 'bot'].includes(settings.traffic) || settings.show === 'pods';
    this.fields.pods.visible = settings.traffic === 'bot' || settings.show === 'pods';
    this.algorithmField.hidden = settings.show !== 'pods';
    this.kind.value = settings.traffic;
    this.algorithm.value = settings.algorithm;
    const own = this.kind.querySelector<HTMLOptionElement>('option[value=own]');
    if (own) own.hidden = own.disabled = this.run.own.length === 0;
  }

  private choice(id: string, options: readonly (readonly [string, string])[], chosen: (value: string) => void) {
    const select = h('select', { id, onchange: () => chosen(select.value) },
      ...options.map(([value, label]) => h('option', { value }, label)));
    return select;
  }

  private number(name: Numeric, label: string, hint: string): Field {
    return new Field({ name, label, hint, numeric: true, typed: (text) => this.take(name, text) });
  }

  private take(name: Numeric, text: string): string | null {
    const value = parseNumber(name, text);
    if (value === null) {
      const [least, most] = BOUNDS[name];
      const wrong = isWhole(name) ? this.words.badNumber : this.words.badRate;
      return fill(wrong, { least, most: formatNumber(most) });
    }
    const { limit, burst } = this.run.settings;
    const burstFollows = name === 'limit' && burst === Math.max(1, limit);
    this.changed({ [name]: value, ...(burstFollows ? { burst: Math.max(1, value) } : {}) });
    return null;
  }

  private period(text: string): string | null {
    const us = parseDuration(text);
    if (us === null || us < PERIOD_US[0] || us > PERIOD_US[1]) return this.words.badPeriod;
    const nearest = this.law.nearestPeriodUs(us);
    if (nearest !== us) return fill(this.words.nearPeriod, { nearest: formatDuration(nearest) });
    this.changed({ periodUs: us, speed: fittingSpeed(us) });
    return null;
  }
}
