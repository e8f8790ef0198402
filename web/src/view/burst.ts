// What a boundary burst came to, in a sentence: what the fixed window let through, and what the log did of the same.
import { h, say } from '../dom';
import { formatDuration } from '../duration';
import { formatNumber, formatSpan } from '../format';
import { ALGORITHMS } from '../simulator/law';
import type { Run } from '../simulator/run';
import { fill, type Words } from '../words';

const [FIXED, LOG] = [ALGORITHMS.indexOf('fixed-window'), ALGORITHMS.indexOf('sliding-window-log')];

export class Burst {
  readonly element = h('p', { class: 'headline', 'data-burst': '' });

  constructor(
    private readonly run: Run,
    private readonly words: Words,
  ) {}

  update(): void {
    const { world, settings } = this.run;
    const { words, element } = this;
    const { most, mostFromUs, mostAtUs } = world.lane(FIXED).worst;
    const over = most > settings.limit;
    element.classList.toggle('over', over);
    say(element, !over ? words.burstYet : fill(words.burstOver, {
      n: formatNumber(most),
      span: formatSpan(mostAtUs - mostFromUs),
      limit: formatNumber(settings.limit),
      per: formatDuration(settings.periodUs),
      log: formatNumber(world.lane(LOG).worst.most),
    }));
  }
}
