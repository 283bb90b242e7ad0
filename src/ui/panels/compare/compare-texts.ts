import { formatCount } from '../../parts/format.ts';

/** A prompt's continuations; undefined where it failed. */
export type ComparedText = string | undefined;

/** @param trials The texts of each trial, all in the order of the prompts. */
export function describeTexts(trials: readonly (readonly ComparedText[])[]): string {
  const [first = [], ...others] = trials;
  const numFailed = first.filter((_, index) => trials.some((texts) => texts[index] === undefined)).length;
  const numDiffering = first.filter((text, index) =>
    others.some((texts) => isOther(text, texts[index])),
  ).length;
  const numCompared = first.length - numFailed;
  const failed = numFailed > 0 ? ` ${formatCount(numFailed)} of ${formatCount(first.length)} failed.` : '';
  if (numCompared === 0) return `No text could be compared.${failed}`;
  if (numDiffering === 0) {
    const texts = numCompared === 1 ? 'The text is' : `All ${formatCount(numCompared)} texts are`;
    return `${texts} the same under each policy.${failed}`;
  }
  const differ = numDiffering === 1 ? 'differs' : 'differ';
  return `${formatCount(numDiffering)} of ${formatCount(numCompared)} texts ${differ} between the policies.${failed}`;
}

function isOther(text: ComparedText, other: ComparedText): boolean {
  return text !== undefined && other !== undefined && text !== other;
}
