import { inOrder } from '../../batching/base/ordered-json.ts';

/** Stands for -Infinity, which JSON lacks, as in vLLM. */
const LOWEST_LOGPROB = -9999;

/** The text of a part of a character. */
export const PART_OF_CHARACTER = '\uFFFD';

/** The length of a text as Python counts it: in code points. */
export function lengthOf(text: string): number {
  return Array.from(text).length;
}

export interface NamedLogprob {
  readonly tokenId: number;
  /** The token's own text: '' for a special token, U+FFFD for a part of a character. */
  readonly text: string;
  readonly logprob: number;
}

/** A token with its text and log probability, and those of the likeliest tokens in its place. */
export interface NamedToken extends Omit<NamedLogprob, 'logprob'> {
  /** Null for the first token of a prompt. */
  readonly logprob: number | null;
  readonly top: readonly NamedLogprob[];
}

/** A token of an output, which always has a logprob. */
export interface NamedOutputToken extends NamedLogprob {
  readonly top: readonly NamedLogprob[];
}

export function finiteLogprob(logprob: number): number {
  return Math.max(logprob, LOWEST_LOGPROB);
}

/**
 * Log probabilities as in OpenAI's completions: lists with an entry for each token. An entry is null for the first token of a
 * prompt.
 *
 * @param places Where each token begins in the choice's text, in code points.
 */
export function completionLogprobs(tokens: readonly NamedToken[], places: readonly number[]) {
  return {
    tokens: tokens.map(({ text }) => text),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    // The token itself is included even if it isn't one of the likeliest.
    top_logprobs: tokens.map(({ text: ownText, logprob: own, top }) =>
      own === null
        ? null
        : inOrder(
            [...top, { text: ownText, logprob: own }].map(({ text, logprob }) => [text, logprob] as const),
          ),
    ),
    text_offset: places,
  };
}

/**
 * A prompt's log probabilities as in vLLM: by token id, those of the likeliest tokens and of the prompt's own. The rank is 1 for
 * the likeliest, and null for a prompt token that isn't among the likeliest.
 */
export function promptLogprobs(tokens: readonly NamedToken[]): readonly (object | null)[] {
  return tokens.map(({ tokenId: ownId, text: ownText, logprob: own, top }) => {
    if (own === null) return null;
    const ranked = top.map((entry, index) => ({ ...entry, rank: index + 1 }));
    const isAmongThem = top.some(({ tokenId }) => tokenId === ownId);
    const ownEntry = { tokenId: ownId, text: ownText, logprob: own, rank: null };
    return inOrder(
      (isAmongThem ? ranked : [...ranked, ownEntry]).map(
        ({ tokenId, text, logprob, rank }) =>
          [String(tokenId), { logprob, rank, decoded_token: text }] as const,
      ),
    );
  });
}

/** Log probabilities as in OpenAI's chat completions: each token with the likeliest ones in its place. */
export function chatLogprobs(tokens: readonly NamedToken[]) {
  return {
    content: tokens.map(({ text, logprob, top }) => ({
      ...chatToken(text, logprob),
      top_logprobs: top.map((other) => chatToken(other.text, other.logprob)),
    })),
    refusal: null,
  };
}

function chatToken(text: string, logprob: number | null) {
  return { token: text, logprob, bytes: bytesOf(text) };
}

/** UTF-8 bytes. Null where the text doesn't determine them: for a part of a character, and for a special token. */
function bytesOf(text: string): readonly number[] | null {
  return text === '' || text.includes(PART_OF_CHARACTER) ? null : [...new TextEncoder().encode(text)];
}
