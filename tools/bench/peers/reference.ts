import { readFileSync } from 'node:fs';

import fixture from '../../reference/fixtures/bench-peers-reference.json' with { type: 'json' };
import { Vocabulary } from '../../../src/worker/models/tokenizer/vocabulary.ts';
import { smollm2Prompts, type Smollm2Prompt } from '../smollm2.ts';
import { MAX_CONCURRENT, type Continuation, type PeerRequest } from './contender.ts';
import { STORYTELLER } from './models/checkpoint.ts';

export interface ReferencePrompt {
  readonly prompt: string;
  readonly promptTokenIds: readonly number[];
  /** PyTorch's greedy continuation in fp64: 64 tokens, none of them the end token. */
  readonly greedyTokenIds: readonly number[];
}

type Entry = Omit<Smollm2Prompt, 'numTokens'>;

export const referencePrompts: readonly ReferencePrompt[] = fixture.prompts;

/** All have the same number of tokens. */
export const longPrompts: readonly ReferencePrompt[] = fixture.longPrompts;

/** For SmolLM2, in fp32: as many as run at once. */
export const realPrompts = smollm2Prompts(40, MAX_CONCURRENT);

const entries: readonly Entry[] = [...referencePrompts, ...longPrompts, ...realPrompts];

const vocabulary = new Vocabulary(JSON.parse(readFileSync(new URL('tokenizer.json', STORYTELLER), 'utf8')));

/** Whether a continuation is the reference's, token by token, or as text where the library reports no tokens. */
export function isAsReference({ prompt, maxNewTokens }: PeerRequest, continuation: Continuation): boolean {
  const entry = entries.find((candidate) => candidate.prompt === prompt);
  if (!entry) throw new Error(`The reference has no prompt “${prompt}”`);
  const { greedyTokenIds = [], greedyText } = entry;
  const expected = greedyTokenIds.slice(0, maxNewTokens);
  if ('tokenIds' in continuation) return continuation.tokenIds.join() === expected.join();
  const { text, numTokens } = continuation;
  return greedyText === undefined
    ? text === vocabulary.decode(expected)
    : numTokens === expected.length && greedyText.startsWith(text);
}
