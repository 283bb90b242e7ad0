import type { TokenLogprobs } from '../../../batching/sampling/logprobs.ts';
import type { Precision } from '../../models/checkpoint/packed-weights.ts';

/** The values that one request of the check must have. */
export interface ExpectedRow {
  readonly promptTokenIds: readonly number[];
  /** For each output token: its id, and the largest logprobs in its place, in descending order. */
  readonly steps: readonly (readonly number[])[];
}

/** The values that the GPU computed for it. */
export interface ComputedRow {
  readonly tokens: readonly ComputedToken[];
  /** Whether logits of this row were not numbers, so that it has no further token. */
  readonly isNaN: boolean;
  /** The row's place in the last step that it was in. */
  readonly place: number;
}

export interface ComputedToken extends Pick<TokenLogprobs, 'tokenId' | 'top'> {
  /** The row's place in the step. */
  readonly place: number;
}

/**
 * The largest error of a logprob. PyTorch's fp16 is off by 0.018 at most in these models (`tools/reference/gpu-check` prints it);
 * a GPU may add in another order, and round more often. The reference's tokens lead by 0.15, more than twice the tolerance, so
 * that each precision takes the same.
 */
const TOLERANCE: Readonly<Record<Precision, number>> = { float16: 0.05, float32: 0.002 };

/** The first wrong value of a row. Later ones may be its consequences. */
interface Finding {
  readonly promptLength: number;
  readonly step: number;
  readonly place: number;
  readonly isNaN: boolean;
}

/** Says where values are wrong, as far as the rows show it; undefined if all are right. */
export function findWrongValues(
  expected: readonly ExpectedRow[],
  computed: readonly ComputedRow[],
  precision: Precision,
): string | undefined {
  const findings = expected.flatMap((row, i) => findingOf(row, computed[i], TOLERANCE[precision]) ?? []);
  if (findings.length === 0) return undefined;
  const where = describePlaces(findings, expected);
  return findings.some(({ isNaN }) => isNaN) ? `not a number: ${where}` : where;
}

function findingOf(
  { promptTokenIds, steps }: ExpectedRow,
  computed: ComputedRow | undefined,
  tolerance: number,
): Finding | undefined {
  const { tokens = [], isNaN = false, place = 0 } = computed ?? {};
  const step = steps.findIndex((values, i) => !isWithin(tolerance, values, tokens[i]));
  if (step < 0) return undefined;
  const wrong = tokens[step];
  return {
    promptLength: promptTokenIds.length,
    step,
    place: wrong?.place ?? place,
    isNaN: wrong === undefined && isNaN,
  };
}

/** Ranks are compared, not tokens: two tokens that are equally likely may change places. */
function isWithin(tolerance: number, [tokenId, ...top]: readonly number[], token?: ComputedToken): boolean {
  if (!token || token.tokenId !== tokenId) return false;
  return top.every((logprob, i) => Math.abs((token.top[i]?.logprob ?? NaN) - logprob) <= tolerance);
}

function describePlaces(findings: readonly Finding[], expected: readonly ExpectedRow[]): string {
  const [{ place } = { place: 0 }] = findings;
  if (place > 0 && findings.every((finding) => finding.place === place)) return `row ${place + 1} of a batch`;
  const inPrompts = findings.filter(({ step }) => step === 0);
  const prompts = describePrompts(
    inPrompts.map(({ promptLength }) => promptLength),
    expected.map(({ promptTokenIds }) => promptTokenIds.length),
  );
  const later = inPrompts.length < findings.length ? ['tokens after the first'] : [];
  return [...prompts, ...later].join(', ') || 'single rows of a batch';
}

/** Blames a length only if all its prompts are wrong. The late joiner may be wrong because of its copied keys and values. */
function describePrompts(wrongLengths: readonly number[], allLengths: readonly number[]): readonly string[] {
  const lengths = distinct(allLengths);
  const wrong = lengths.filter((length) => countOf(wrongLengths, length) === countOf(allLengths, length));
  const [shortest] = wrong;
  if (shortest === undefined) return [];
  if (wrong.length === lengths.length) return ['prompts of any length'];
  const areAllLonger = lengths.filter((length) => length >= shortest).length === wrong.length;
  return [areAllLonger ? `prompts of ${shortest} tokens and more` : `prompts of ${wrong.join(', ')} tokens`];
}

function countOf(lengths: readonly number[], wanted: number): number {
  return lengths.filter((length) => length === wanted).length;
}

function distinct(lengths: readonly number[]): readonly number[] {
  return [...new Set(lengths)].toSorted((a, b) => a - b);
}
