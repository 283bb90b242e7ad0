import { MAX_CONCURRENT, type BackendName, type ContenderName } from './contender.ts';
import type { TimedRequest } from './page/run-case.ts';
import type { BenchModel } from '../command-line.ts';
import { longPrompts, realPrompts, referencePrompts } from './reference.ts';

export interface BenchCase {
  /** The case's name in `--cases`. */
  readonly name: CaseName;
  readonly label: string;
  readonly requests: readonly TimedRequest[];
  /** Tokens of all prompts. Set only if the prefill takes long enough to be measured. */
  readonly numPromptTokens?: number;
  /** The contenders that are left out, each with the reason. */
  readonly leftOut: Partial<Readonly<Record<ContenderName, string>>>;
  /** Takes seconds, so a short run before it would change nothing but the time. */
  readonly isSlow?: true;
}

export const CASE_NAMES = ['alone', 'eight', 'mixed', 'long-alone', 'prompts', 'contexts'] as const;

export type CaseName = (typeof CASE_NAMES)[number];

const NUM_TOKENS = 64;
/** Few enough for the prefill to take most of the time. */
const NUM_TOKENS_AFTER_LONG_PROMPT = 16;
/** Short enough for requests to overlap: one of 64 tokens takes 30 ms on WASM, and seconds on software WebGPU. */
const ARRIVAL_INTERVAL_MS: Readonly<Record<BackendName, number>> = { webgpu: 100, wasm: 5 };
/** 8 to 64, shuffled once; a batch that waits for its longest member must not meet them sorted. */
const MIXED_LENGTHS = [32, 8, 56, 16, 64, 24, 48, 40];

const LIST_OF_ONE = { 'pipeline-list': 'a list of one is one by one' };

const numLongPromptTokens = longPrompts[0]?.promptTokenIds.length ?? 0;

/** Of the real model, in a sixth of whose speed some libraries run. */
const NUM_REAL_TOKENS = 32;
const numRealPromptTokens = realPrompts[0]?.numTokens ?? 0;

const REAL_CASES: readonly BenchCase[] = [
  {
    name: 'alone',
    label: `1 request, prompt of ${numRealPromptTokens} tokens, ${NUM_REAL_TOKENS} new ones`,
    requests: atOnce(realPrompts.slice(0, 1), NUM_REAL_TOKENS),
    leftOut: LIST_OF_ONE,
    isSlow: true,
  },
  {
    name: 'eight',
    label: `${MAX_CONCURRENT} at once, prompts of ${numRealPromptTokens} tokens, ${NUM_REAL_TOKENS} new ones each`,
    requests: atOnce(realPrompts, NUM_REAL_TOKENS),
    leftOut: {},
    isSlow: true,
  },
];

const CASES: readonly (BenchCase | ((backend: BackendName) => BenchCase))[] = [
  {
    name: 'alone',
    label: `1 request, ${NUM_TOKENS} tokens`,
    requests: atOnce(referencePrompts.slice(0, 1), NUM_TOKENS),
    leftOut: LIST_OF_ONE,
  },
  {
    name: 'eight',
    label: `${MAX_CONCURRENT} at once, ${NUM_TOKENS} tokens each`,
    requests: atOnce(referencePrompts, NUM_TOKENS),
    leftOut: {},
  },
  (backend) => mixedLengths(ARRIVAL_INTERVAL_MS[backend]),
  {
    name: 'long-alone',
    label: `1 request, prompt of ${numLongPromptTokens} tokens, ${NUM_TOKENS_AFTER_LONG_PROMPT} new ones`,
    ...withLongPrompts(longPrompts.slice(0, 1), NUM_TOKENS_AFTER_LONG_PROMPT),
    leftOut: LIST_OF_ONE,
  },
  {
    name: 'prompts',
    label: `${MAX_CONCURRENT} at once, prompts of ${numLongPromptTokens} tokens, ${NUM_TOKENS_AFTER_LONG_PROMPT} new ones each`,
    ...withLongPrompts(longPrompts, NUM_TOKENS_AFTER_LONG_PROMPT),
    leftOut: {},
  },
  {
    name: 'contexts',
    label: `${MAX_CONCURRENT} at once, prompts of ${numLongPromptTokens} tokens, ${NUM_TOKENS} new ones each`,
    ...withLongPrompts(longPrompts, NUM_TOKENS),
    // One by one takes minutes on software WebGPU.
    leftOut: { 'pipeline-one': 'see the two cases before' },
  },
];

/** In the order of the tables. */
export function casesOf(
  names: readonly CaseName[],
  backend: BackendName,
  model: BenchModel = 'storyteller',
): readonly BenchCase[] {
  const cases = model === 'smollm2' ? REAL_CASES : CASES;
  return cases
    .map((entry) => (typeof entry === 'function' ? entry(backend) : entry))
    .filter(({ name }) => names.includes(name));
}

function mixedLengths(intervalMs: number): BenchCase {
  return {
    name: 'mixed',
    label: `${MAX_CONCURRENT} arriving ${intervalMs} ms apart, ${Math.min(...MIXED_LENGTHS)} to ${Math.max(...MIXED_LENGTHS)} tokens`,
    requests: referencePrompts.map(({ prompt }, index) => ({
      prompt,
      maxNewTokens: MIXED_LENGTHS[index] ?? NUM_TOKENS,
      arrivalMs: index * intervalMs,
    })),
    leftOut: {},
  };
}

function atOnce(
  prompts: readonly { readonly prompt: string }[],
  maxNewTokens: number,
): readonly TimedRequest[] {
  return prompts.map(({ prompt }) => ({ prompt, maxNewTokens, arrivalMs: 0 }));
}

function withLongPrompts(
  prompts: typeof longPrompts,
  maxNewTokens: number,
): Pick<BenchCase, 'requests' | 'numPromptTokens'> {
  return {
    requests: atOnce(prompts, maxNewTokens),
    numPromptTokens: numLongPromptTokens * prompts.length,
  };
}
