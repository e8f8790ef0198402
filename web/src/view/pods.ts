// Limiters that know nothing of each other: what each pod has left, and what the bot gets through in all.
import { h, say } from '../dom';
import { formatNumber } from '../format';
import { ALGORITHMS, Place } from '../simulator/law';
import type { Run } from '../simulator/run';
import { LOCAL } from '../simulator/world';
import { fill, type Words } from '../words';

export class Pods {
  readonly element: HTMLElement;
  private readonly headline = h('p', { class: 'headline', 'data-leak': '' });
  private readonly list = h('ul', { class: 'pods' });
  private meters: { fill: HTMLElement; left: HTMLElement }[] = [];

  constructor(
    private readonly run: Run,
    private readonly words: Words,
  ) {
    this.element = h('div', { class: 'podview' }, this.headline, this.list);
  }

  update(): void {
    const { world, settings } = this.run;
    const { words } = this;
    if (world.lanes.length <= LOCAL) return;
    const [local, shared] = [world.lane(LOCAL), world.lane(ALGORITHMS.indexOf(settings.algorithm))];
    if (this.meters.length !== local.keys.length) this.build(local.keys.length);
    local.keys.forEach((key, pod) => {
      const { capacity } = key.terms;
      const remaining = key.check(world.nowUs, 0)[Place.remaining] ?? 0;
      const meter = this.meters[pod];
      if (!meter) return;
      meter.fill.style.transform = `scaleX(${capacity > 0 ? remaining / capacity : 0})`;
      say(meter.left, fill(words.podLeft, { n: formatNumber(remaining), of: formatNumber(capacity) }));
    });
    const counts = { n: local.keys.length, local: formatNumber(local.admitted), shared: formatNumber(shared.admitted) };
    say(this.headline, world.history.count === 0 ? words.leakNone : fill(words.leak, counts));
  }

  private build(count: number): void {
    this.meters = Array.from({ length: count }, () => ({
      fill: h('span', { class: 'meter-fill' }),
      left: h('span', { class: 'muted' }),
    }));
    this.list.replaceChildren(...this.meters.map(({ fill: bar, left }, pod) =>
      h('li', {}, h('strong', {}, fill(this.words.podName, { n: pod + 1 })), h('span', { class: 'meter' }, bar), left)));
  }
}
