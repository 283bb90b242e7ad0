import type { ContenderName } from './contender.ts';
import type { TimedRequest } from './page/run-case.ts';
import { referencePrompts } from './reference.ts';

export interface BenchCase {
  readonly label: string;
  readonly requests: readonly TimedRequest[];
  /** Who cannot take part, and why. */
  readonly cannot: Partial<Readonly<Record<ContenderName, string>>>;
}

const NUM_TOKENS = 64;
const ARRIVAL_INTERVAL_MS = 100;
/** 8 to 64, shuffled once; a batch that waits for its longest member must not meet them sorted. */
const MIXED_LENGTHS = [32, 8, 56, 16, 64, 24, 48, 40];

const [first] = referencePrompts;
if (!first) throw new Error('The reference has no prompts');

export const CASES: readonly BenchCase[] = [
  {
    label: `1 request, ${NUM_TOKENS} tokens`,
    requests: [{ prompt: first.prompt, maxNewTokens: NUM_TOKENS, arrivalMs: 0 }],
    cannot: { 'pipeline-list': 'a list of one is one by one' },
  },
  {
    label: `${referencePrompts.length} at once, ${NUM_TOKENS} tokens each`,
    requests: referencePrompts.map(({ prompt }) => ({ prompt, maxNewTokens: NUM_TOKENS, arrivalMs: 0 })),
    cannot: {},
  },
  {
    label: `${referencePrompts.length} arriving ${ARRIVAL_INTERVAL_MS} ms apart, ${Math.min(...MIXED_LENGTHS)} to ${Math.max(...MIXED_LENGTHS)} tokens`,
    requests: referencePrompts.map(({ prompt }, index) => ({
      prompt,
      maxNewTokens: MIXED_LENGTHS[index] ?? NUM_TOKENS,
      arrivalMs: index * ARRIVAL_INTERVAL_MS,
    })),
    cannot: {},
  },
];
