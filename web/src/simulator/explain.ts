// Why a request was admitted or refused: the numbers that the law found, put into the algorithm's own formula
// (docs/algorithms.md). The verdict is the law's; the two sides are computed for people to look at.
import { type Algorithm, isBucket, Place, type Terms } from './law';

export type Kind = 'formula' | 'peek' | 'never';

export interface Explanation {
  kind: Kind;
  formula: string;
  left: number;
  right: number;
  filled: string; // the formula with its numbers
  symbols: readonly (readonly [symbol: string, value: number])[];
}

const at = (row: Float64Array, place: number): number => row[place] ?? 0;

/** Numbers in formulas have no separators that another language would read differently, but for a thin space. */
export const plain = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, '\u2009');

type Sides = Pick<Explanation, 'formula' | 'left' | 'right' | 'filled' | 'symbols'>;

function bucketSides(terms: Terms, row: Float64Array, n: number): Sides {
  const { period: P, capacity: B, limit: L } = terms;
  const used = at(row, Place.used);
  return {
    formula: 'used + n × P ≤ B × P',
    filled: `${plain(used)} + ${plain(n)} × ${plain(P)} ≤ ${plain(B)} × ${plain(P)}`,
    left: used + n * P,
    right: B * P,
    symbols: [['used', used], ['n', n], ['P', P], ['B', B], ['L', L]],
  };
}

function windowSides(terms: Terms, row: Float64Array, n: number): Sides {
  const count = at(row, Place.used);
  return {
    formula: 'count + n ≤ L',
    filled: `${plain(count)} + ${plain(n)} ≤ ${plain(terms.limit)}`,
    left: count + n,
    right: terms.limit,
    symbols: [['count', count], ['n', n], ['L', terms.limit]],
  };
}

function counterSides(terms: Terms, row: Float64Array, n: number): Sides {
  const { period: P, limit: L } = terms;
  const [curr, prev, e] = [at(row, Place.used), at(row, Place.previous), at(row, Place.elapsed)];
  return {
    formula: 'prev × (P − e) ≤ (L − curr − n) × P',
    filled: `${plain(prev)} × (${plain(P)} − ${plain(e)}) ≤ (${plain(L)} − ${plain(curr)} − ${plain(n)}) × ${plain(P)}`,
    left: prev * (P - e),
    right: (L - curr - n) * P,
    symbols: [['prev', prev], ['curr', curr], ['n', n], ['L', L], ['e', e], ['P', P]],
  };
}

function logSides(terms: Terms, row: Float64Array, n: number): Sides {
  const held = at(row, Place.used);
  return {
    formula: 'held + n ≤ L',
    filled: `${plain(held)} + ${plain(n)} ≤ ${plain(terms.limit)}`,
    left: held + n,
    right: terms.limit,
    symbols: [['held', held], ['n', n], ['L', terms.limit]],
  };
}

function sidesOf(algorithm: Algorithm, terms: Terms, row: Float64Array, cost: number): Sides {
  if (isBucket(algorithm)) return bucketSides(terms, row, cost);
  if (algorithm === 'fixed-window') return windowSides(terms, row, cost);
  if (algorithm === 'sliding-window-counter') return counterSides(terms, row, cost);
  return logSides(terms, row, cost);
}

export function explain(algorithm: Algorithm, terms: Terms, row: Float64Array, cost: number): Explanation {
  const kind = cost === 0 ? 'peek' : cost > terms.capacity ? 'never' : 'formula';
  return { kind, ...sidesOf(algorithm, terms, row, cost) };
}
