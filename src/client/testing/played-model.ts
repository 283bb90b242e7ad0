import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect } from 'vitest';

import type { GenerationResult } from '../../protocol/generation.ts';
import type { RequestId } from '../../protocol/ids.ts';
import { PlayedWorker, type Submitted } from './played-worker.ts';
import { createTabserve } from '../ai-sdk/provider.ts';

/** A provider and its model `chat`, whose worker the test plays. */
export function setUp(status: ConstructorParameters<typeof PlayedWorker>[0] = {}) {
  const worker = new PlayedWorker(status);
  const tabserve = createTabserve({ serve: worker.serve });
  return { worker, tabserve, model: tabserve('chat') };
}

/** As `setUp`, but the test answers each prompt. */
export function setUpSilent() {
  const made = setUp();
  made.worker.reply = undefined;
  return made;
}

/** The worker's answer `Yes`, in one token. */
export function finish(
  worker: PlayedWorker,
  requestId: RequestId,
  given: Pick<GenerationResult, 'finishReason'> & Partial<GenerationResult>,
): void {
  const choice = { text: 'Yes', generatedText: 'Yes', tokenIds: [1], seed: 9, ...given };
  const usage = { numPromptTokens: 0, numCachedTokens: 0, numOutputTokens: 1 };
  const timings = { queueWaitMs: 1, ttftMs: 2, e2eMs: 3, tpotMs: 4 };
  const result = { usage, timings, ...choice, choices: [choice] };
  worker.update({ type: 'finished', requestId, result });
}

export const HI: LanguageModelV4CallOptions = {
  prompt: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
};

export function lastOf({ submitted }: PlayedWorker): Submitted {
  const last = submitted.at(-1);
  if (!last) throw new Error('Nothing was submitted');
  return last;
}

export async function untilSubmitted(worker: PlayedWorker): Promise<Submitted> {
  await expect.poll(() => worker.submitted.length).toBeGreaterThan(0);
  return lastOf(worker);
}
