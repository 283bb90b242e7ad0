import { sum } from '../statistics.ts';
import type { Continuation } from '../peers/contender.ts';
import type { Precision, ReferenceAnswer } from './contender.ts';

/** How a library's greedy answers agree with those that Tabserve computes on the CPU. */
export interface Agreement {
  /** Tokens of all answers. */
  readonly numTokens: number;
  /** Tokens before the first difference of each answer. */
  readonly numSame: number;
  /** The largest difference of the first token's log probabilities; missing if the library reports none. */
  readonly difference?: number;
  readonly tolerance: number;
  readonly isRight: boolean;
}

type Answer = Continuation & Partial<Pick<ReferenceAnswer, 'first'>>;

/**
 * Log probabilities may differ by this much. The order of sums differs in fp32. fp16 is compared with fp32 on the CPU, so its
 * rounding differs too. In q4, libraries round activations differently, some to 8 bits.
 */
export const TOLERANCES: Readonly<Record<Precision, number>> = { fp32: 0.01, fp16: 0.1, q4: 0.25 };

/**
 * Compares answers token by token, or as text if the library reports no tokens. A token may differ if the CPU's lead of the
 * likeliest over the next is within the tolerance. The rest of that answer then follows another text and is not compared.
 */
export function agreementOf(
  references: readonly ReferenceAnswer[],
  answers: readonly Answer[],
  tolerance: number,
): Agreement {
  const compared = references.map((reference, index) => compare(reference, answers[index], tolerance));
  const differences = compared.flatMap(({ difference }) => difference ?? []);
  const difference = Math.max(...differences);
  return {
    numTokens: sum(references.map(({ tokenIds }) => tokenIds.length)),
    numSame: sum(compared.map(({ numSame }) => numSame)),
    ...(differences.length > 0 && { difference }),
    tolerance,
    isRight:
      compared.every(({ isRight }) => isRight) && (differences.length === 0 || difference <= tolerance),
  };
}

interface Compared {
  readonly numSame: number;
  readonly difference?: number | undefined;
  readonly isRight: boolean;
}

function compare(reference: ReferenceAnswer, answer: Answer | undefined, tolerance: number): Compared {
  if (!answer) return { numSame: 0, isRight: false };
  const difference = answer.first && differenceOf(reference.first, answer.first);
  const { numSame, numDoubtful } =
    'tokenIds' in answer ? sameTokens(reference, answer.tokenIds) : sameText(reference, answer.text);
  const leads = reference.leads.slice(numSame, numSame + numDoubtful);
  const isWhole = numSame === reference.tokenIds.length;
  return { numSame, difference, isRight: isWhole || leads.some((lead) => lead <= tolerance) };
}

/** Tokens before the first difference, and how many of the next tokens may be the one that differs. */
interface Same {
  readonly numSame: number;
  readonly numDoubtful: number;
}

function sameTokens({ tokenIds }: ReferenceAnswer, others: readonly number[]): Same {
  const first = tokenIds.findIndex((id, index) => others[index] !== id);
  return { numSame: first === -1 ? tokenIds.length : first, numDoubtful: 1 };
}

/** Libraries spell invalid bytes differently, so only printable ASCII is compared. */
function sameText({ pieces }: ReferenceAnswer, text: string): Same {
  const others = plain(text);
  let [whole, numSame] = ['', 0];
  for (const piece of pieces) {
    whole += plain(piece.text);
    if (!others.startsWith(whole)) return { numSame, numDoubtful: piece.numTokens };
    numSame += piece.numTokens;
  }
  return others === whole ? { numSame, numDoubtful: 0 } : { numSame: numSame - 1, numDoubtful: 1 };
}

function plain(text: string): string {
  return text.replaceAll(/[^ -~]/g, '');
}

/** The largest difference over the likeliest tokens; infinite if the other answer lacks one of them. */
function differenceOf(expected: ReferenceAnswer['first'], actual: ReferenceAnswer['first']): number {
  const logprobs = new Map(actual.map(({ tokenId, logprob }) => [tokenId, logprob]));
  const differences = expected
    .slice(0, NUM_COMPARED)
    .map(({ tokenId, logprob }) => Math.abs(logprob - (logprobs.get(tokenId) ?? Infinity)));
  return Math.max(...differences);
}

const NUM_COMPARED = 5;
