import type { ContenderName } from './contender.ts';

/**
 * `prefill` times prompts of one length until their first tokens. `decode` times texts that grow to one length, after their first
 * tokens.
 */
export interface GpuCase {
  readonly kind: 'prefill' | 'decode';
  /** Tokens of each prompt. For `decode`, tokens of each prompt and its whole text. */
  readonly length: number;
  /** Requests at once. */
  readonly rows: number;
}

export interface Matrix {
  readonly rows: readonly number[];
  readonly prefillLengths: readonly number[];
  readonly contextLengths: readonly number[];
  /** Tokens of each text that is timed. */
  readonly numNewTokens: number;
}

export interface GpuRequest {
  readonly prompt: string;
  readonly maxNewTokens: number;
}

/** Ordered from the fewest rows to the most, so that a library that runs out of memory does so late. */
export function casesOf({ rows, prefillLengths, contextLengths }: Matrix): readonly GpuCase[] {
  return rows.flatMap((numRows) => [
    ...prefillLengths.map((length): GpuCase => ({ kind: 'prefill', length, rows: numRows })),
    ...contextLengths.map((length): GpuCase => ({ kind: 'decode', length, rows: numRows })),
  ]);
}

/** One by one is timed with one request only, because n requests take n times as long. A list of one would be one by one. */
export function takesPart(name: ContenderName, { rows }: GpuCase): boolean {
  if (name === 'pipeline-one') return rows === 1;
  return name !== 'pipeline-list' || rows > 1;
}

export function requestsOf({ kind, length, rows }: GpuCase, { numNewTokens }: Matrix): readonly GpuRequest[] {
  const maxNewTokens = kind === 'prefill' ? 1 : numNewTokens;
  const numPromptTokens = kind === 'prefill' ? length : length - numNewTokens;
  if (numPromptTokens < 1)
    throw new Error(`Expected more than ${numNewTokens} tokens of context, got ${length}`);
  return promptsOf(rows, numPromptTokens).map((prompt) => ({ prompt, maxNewTokens }));
}

/**
 * `count` prompts that differ within their first two words, of `numTokens` characters each. To the models a character is a token.
 */
export function promptsOf(count: number, numTokens: number): readonly string[] {
  return Array.from({ length: count }, (_, row) => {
    let state = 1 + row;
    return Array.from({ length: numTokens }, (_character, index) => {
      // Park and Miller's random number generator.
      state = (state * 48_271) % 2_147_483_647;
      return index % WORD_LENGTH === WORD_LENGTH - 1 && index < numTokens - 1
        ? ' '
        : String.fromCharCode(FIRST_LETTER + (state % NUM_LETTERS));
    }).join('');
  });
}

const WORD_LENGTH = 6;
const FIRST_LETTER = 'a'.charCodeAt(0);
const NUM_LETTERS = 26;
