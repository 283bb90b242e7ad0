import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { expect } from 'vitest';

import { PlayedWorker, type Submitted } from '../testing/played-worker.ts';
import { createTabserve } from './provider.ts';

/** A provider and its model `chat`, whose worker the test plays. */
export function setUp(status: ConstructorParameters<typeof PlayedWorker>[0] = {}) {
  const worker = new PlayedWorker(status);
  const tabserve = createTabserve({ serve: worker.serve });
  return { worker, tabserve, model: tabserve('chat') };
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
