import { readFileSync } from 'node:fs';

import fixture from '../../reference/fixtures/bench-peers-reference.json' with { type: 'json' };
import { Vocabulary } from '../../../src/worker/models/tokenizer/vocabulary.ts';
import type { Continuation, PeerRequest } from './contender.ts';
import { STORYTELLER } from './models/checkpoint.ts';

export interface ReferencePrompt {
  readonly prompt: string;
  readonly promptTokenIds: readonly number[];
  /** PyTorch's greedy continuation in fp64: 64 tokens, none of them the end token. */
  readonly greedyTokenIds: readonly number[];
}

export const referencePrompts: readonly ReferencePrompt[] = fixture.prompts;

/** All have the same number of tokens. */
export const longPrompts: readonly ReferencePrompt[] = fixture.longPrompts;

const entries = [...referencePrompts, ...longPrompts];

const vocabulary = new Vocabulary(JSON.parse(readFileSync(new URL('tokenizer.json', STORYTELLER), 'utf8')));

/** Whether a continuation is the reference's, token by token, or as text where the library reports no tokens. */
export function isAsReference({ prompt, maxNewTokens }: PeerRequest, continuation: Continuation): boolean {
  const entry = entries.find((candidate) => candidate.prompt === prompt);
  if (!entry) throw new Error(`The reference has no prompt “${prompt}”`);
  const expected = entry.greedyTokenIds.slice(0, maxNewTokens);
  return 'tokenIds' in continuation
    ? continuation.tokenIds.join() === expected.join()
    : continuation.text === vocabulary.decode(expected);
}
