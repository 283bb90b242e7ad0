import type { Rung } from '../../protocol/ladder.ts';
import type { BackendInfo } from '../../protocol/models.ts';

/** How a line ended. */
export interface Verdict {
  readonly outcome: 'right' | 'wrong' | 'not-run';
  readonly detail: string;
}

/** The place where two texts of the same prompt part. */
export interface Parting {
  /** Which of the texts, from 0. */
  readonly text: number;
  /** The first token that differs, from 0. */
  readonly token: number;
  /** How far the likeliest token was ahead of the second there, as a difference of natural logarithms. Infinity where nobody asked. */
  readonly margin: number;
}

/**
 * Two computations of one token may choose differently where the two likeliest tokens are closer than rounding moves them. The CPU's
 * sums are the same in each batch. A GPU adds in another order for another number of rows: in fp16, logprobs of a whole model
 * differ by some hundredths.
 */
const ROUNDING: Readonly<Record<Rung, number>> = {
  'webgpu-fp16': 0.1,
  'webgpu-fp32': 0.01,
  'wasm-threads': 0,
  wasm: 0,
};

/** The margin up to which texts of these backends may part. */
export function roundingOf(...backends: readonly Pick<BackendInfo, 'rung'>[]): number {
  return Math.max(...backends.map(({ rung }) => (rung === undefined ? 0 : ROUNDING[rung])));
}

/** The first token in which they differ, or in which one has ended; undefined where they are the same. */
export function partingOf(a: readonly number[], b: readonly number[]): number | undefined {
  const length = Math.max(a.length, b.length);
  for (let token = 0; token < length; token += 1) if (a[token] !== b[token]) return token;
  return undefined;
}

/** @param rounding As of `roundingOf`. */
export function judgeTexts(numTexts: number, partings: readonly Parting[], rounding: number): Verdict {
  const wrong = partings.filter(({ margin }) => !(margin < rounding));
  const [first] = wrong;
  if (first) {
    const margin = Number.isFinite(first.margin) ? `, at a margin of ${first.margin.toFixed(3)}` : '';
    return {
      outcome: 'wrong',
      detail: `${wrong.length} of ${numTexts} texts differ: text ${first.text + 1} from its token ${first.token + 1} on${margin}.`,
    };
  }
  const same = numTexts - partings.length;
  if (same === numTexts)
    return { outcome: 'right', detail: `${numTexts} of ${numTexts} texts are the same.` };
  const largest = Math.max(...partings.map(({ margin }) => margin));
  return {
    outcome: 'right',
    detail: `${same} of ${numTexts} texts are the same. The others part where the two likeliest tokens are within ${largest.toFixed(3)} of each other, which is rounding.`,
  };
}

/** What a worker has found about one backend. */
export interface FoundValues {
  /** `CPU` or `GPU`. */
  readonly place: string;
  readonly values: 'right' | 'wrong' | 'unknown' | 'not-run';
  /** Where values are wrong, or why they were not computed. */
  readonly why: string;
}

export function judgeValues(found: readonly FoundValues[]): Verdict {
  const detail = found.map(describeValues).join(' ');
  if (found.some(({ values }) => values === 'wrong')) return { outcome: 'wrong', detail };
  return { outcome: found.some(({ values }) => values === 'right') ? 'right' : 'not-run', detail };
}

function describeValues({ place, values, why }: FoundValues): string {
  switch (values) {
    case 'right':
      return `${place}: as computed in float64.`;
    case 'wrong':
      return `${place}: wrong values (${why}).`;
    case 'unknown':
      return `${place}: no known values for models of this type.`;
    case 'not-run':
      return `${place}: not run. ${why}`;
    default:
      return values satisfies never;
  }
}
