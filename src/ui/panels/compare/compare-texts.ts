import { formatCount } from '../../parts/format.ts';
import type { PromptTrial } from '../trials/measure-prompts.ts';

/** A prompt's continuations; undefined where it failed. */
export type ComparedText = string | undefined;

/** In the order of the prompts. */
export function comparedTexts({ outcomes }: Pick<PromptTrial, 'outcomes'>): readonly ComparedText[] {
  return outcomes.map(({ texts, error }) => (error ? undefined : JSON.stringify(texts)));
}

/** @param trials The texts of each policy, all in the order of the prompts. */
export function describeTexts(trials: readonly (readonly ComparedText[])[]): string {
  const { numCompared, numDiffering, failed } = countTexts(trials);
  if (numCompared === 0) return `No text could be compared.${failed}`;
  if (numDiffering === 0) {
    const texts = numCompared === 1 ? 'The text is' : `All ${formatCount(numCompared)} texts are`;
    return `${texts} the same under each policy.${failed}`;
  }
  const differ = numDiffering === 1 ? 'differs' : 'differ';
  return `${formatCount(numDiffering)} of ${formatCount(numCompared)} texts ${differ} between the policies.${failed}`;
}

/** `7 of 9 texts are the same.` @param sides As `describeTexts` takes them. */
export function describeSame(sides: readonly (readonly ComparedText[])[]): string {
  const { numCompared, numDiffering, failed } = countTexts(sides);
  if (numCompared === 0) return `No text could be compared.${failed}`;
  const numSame = numCompared - numDiffering;
  return `${formatCount(numSame)} of ${formatCount(numCompared)} texts ${numSame === 1 ? 'is' : 'are'} the same.${failed}`;
}

/** Two texts that differ: up to the word in which they part, and what follows. */
export function splitTexts(one: string, other: string) {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  let wordAt = length;
  while (wordAt > 0 && /\S/.test(one.charAt(wordAt - 1))) wordAt -= 1;
  return { shared: one.slice(0, wordAt), rests: [one.slice(wordAt), other.slice(wordAt)] as const };
}

function countTexts(trials: readonly (readonly ComparedText[])[]) {
  const [first = [], ...others] = trials;
  const numFailed = first.filter((_, index) => trials.some((texts) => texts[index] === undefined)).length;
  const numDiffering = first.filter((text, index) =>
    others.some((texts) => isOther(text, texts[index])),
  ).length;
  const failed = numFailed > 0 ? ` ${formatCount(numFailed)} of ${formatCount(first.length)} failed.` : '';
  return { numCompared: first.length - numFailed, numDiffering, failed };
}

function isOther(text: ComparedText, other: ComparedText): boolean {
  return text !== undefined && other !== undefined && text !== other;
}
