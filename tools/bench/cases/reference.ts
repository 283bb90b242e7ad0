import { readFileSync } from 'node:fs';

import { Vocabulary } from '../../../src/worker/models/tokenizer/vocabulary.ts';
import fixture from '../../reference/fixtures/bench-peers-reference.json' with { type: 'json' };
import type { Continuation, PeerRequest } from '../libraries/contender.ts';
import { smollm2Prompts, type ReferencePrompt } from '../smollm2.ts';

/** With PyTorch's greedy continuations of 64 tokens, none of them the end token: for Storyteller, in fp64. */
export const shortPrompts: readonly ReferencePrompt[] = fixture.prompts;

/** For SmolLM2, in fp32, of 40 tokens each. */
export const realPrompts: readonly ReferencePrompt[] = smollm2Prompts(40, 8);

const entries = [...shortPrompts, ...realPrompts];

const vocabulary = new Vocabulary(
  JSON.parse(
    readFileSync(new URL('../../../public/models/storyteller/tokenizer.json', import.meta.url), 'utf8'),
  ),
);

/**
 * The share of a continuation before the first difference from the reference's: of its tokens, or of its text where the library
 * reports no tokens. `undefined` for a prompt without a reference.
 */
export function sameShareOf(
  { prompt, maxNewTokens }: PeerRequest,
  continuation: Continuation,
): number | undefined {
  const entry = entries.find((candidate) => candidate.prompt === prompt);
  if (!entry?.greedyTokenIds) return undefined;
  const expected = entry.greedyTokenIds.slice(0, maxNewTokens);
  if ('tokenIds' in continuation) return sameShare(expected, continuation.tokenIds);
  const { text, numTokens } = continuation;
  // SmolLM2's vocabulary isn't in the repository, but the text of all tokens is in the fixture.
  const isReal = realPrompts.includes(entry);
  const whole = isReal ? (entry.greedyText ?? '').slice(0, text.length) : vocabulary.decode(expected);
  return sameShare(whole.split(''), text.split('')) * (numTokens === expected.length ? 1 : 0);
}

function sameShare<Item>(expected: readonly Item[], actual: readonly Item[]): number {
  if (expected.length !== actual.length) return 0;
  const first = expected.findIndex((item, index) => item !== actual[index]);
  return first === -1 ? 1 : first / expected.length;
}
