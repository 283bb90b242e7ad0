import { GREEDY } from '../../../src/batching/generation/request.ts';
import type { SamplingParams } from '../../../src/batching/options/sampling-options.ts';
import type { Play } from '../play-requests.ts';
import type { ModelConfig } from '../../../src/worker/models/program/model-config.ts';

export const MAX_ROWS = 16;

/**
 * Around the lengths at which kernels of prefill and attention change; the one that is left out fills the context. Two are alike: rows
 * with state of a fixed size share a prefill with their like alone.
 */
const PROMPT_LENGTHS = [33, 1, 64, 130, 2, undefined, 32, 65, 31, 5, 129, 63, 17, 17, 128, 9];

/** The requests leave in the order in which they come, with steps in between: the batch has each size from 16 to 1. */
const FIRST_OUTPUT = 22;
const MORE_OUTPUT = 4;
const LATE_OUTPUT = 8;

/** Later than any step: these wait until the engine is idle. */
const WHEN_IDLE = Infinity;

/** Tokens that two more requests have in common with the longest one. */
const SHARED_LENGTHS = [40, 300];

const RANDOM: SamplingParams = { ...GREEDY, temperature: 0.8, topK: 40, topP: 0.95, seed: 7 };

/**
 * Requests that join a running batch and leave it one by one, then two that reuse what an ended one has left in the cache.
 * Every fourth is sampled at random.
 */
export function arrivalsFor({ vocabSize, contextLength }: ModelConfig): Play['arrivals'] {
  const ragged = PROMPT_LENGTHS.map((length, i) => {
    const maxNewTokens = FIRST_OUTPUT + MORE_OUTPUT * i;
    const promptTokenIds = promptOf(length ?? contextLength - maxNewTokens, i, vocabSize);
    return { promptTokenIds, maxNewTokens, afterSteps: i };
  });
  const longest = promptOf(contextLength, PROMPT_LENGTHS.indexOf(undefined), vocabSize);
  const late = SHARED_LENGTHS.map((length, i) => ({
    promptTokenIds: [...longest.slice(0, length), ...promptOf(20, PROMPT_LENGTHS.length + i, vocabSize)],
    maxNewTokens: LATE_OUTPUT,
    afterSteps: WHEN_IDLE,
  }));
  return [...ragged, ...late].map(({ afterSteps, ...request }, i) => ({
    afterSteps,
    draft: { ...request, ignoreEos: true, sampling: i % 4 === 3 ? RANDOM : GREEDY },
  }));
}

/** Any tokens, far from one another. A longer prompt of the same seed begins as a shorter one does. */
function promptOf(length: number, seed: number, vocabSize: number): readonly number[] {
  return Array.from({ length }, (_, i) => ((i + 1) * 7919 + seed * 104_729 + i * i * 31) % vocabSize);
}
