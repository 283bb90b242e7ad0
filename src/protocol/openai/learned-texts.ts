import type { PromptTokenLogprobs, TokenLogprobs } from '../generation.ts';
import { finiteLogprob, type NamedOutputToken, type NamedToken } from './logprobs.ts';

export type TextOfToken = (tokenId: number) => string;

/** The texts of tokens of one model. Whoever has its tokenizer is asked once for each. */
export class LearnedTexts {
  readonly #ask: (tokenIds: readonly number[]) => Promise<readonly string[]>;
  readonly #texts = new Map<number, string>();

  constructor(ask: (tokenIds: readonly number[]) => Promise<readonly string[]>) {
    this.#ask = ask;
  }

  /** Empty for a token whose text nobody knows, as under a server. */
  readonly textOf: TextOfToken = (tokenId) => this.#texts.get(tokenId) ?? '';

  /** Undefined where all texts are known. */
  learn(logprobs: readonly PromptTokenLogprobs[]): Promise<void> | undefined {
    const tokenIds = logprobs.flatMap(({ tokenId, top }) => [tokenId, ...top.map((each) => each.tokenId)]);
    const unknown = [...new Set(tokenIds)].filter((tokenId) => !this.#texts.has(tokenId));
    return unknown.length === 0 ? undefined : this.#learn(unknown);
  }

  async #learn(tokenIds: readonly number[]): Promise<void> {
    const texts = await this.#ask(tokenIds).catch(noneAtServer);
    for (const [at, tokenId] of tokenIds.entries()) this.#texts.set(tokenId, texts[at] ?? '');
  }
}

function noneAtServer(error: unknown): readonly string[] {
  if (Object(error).code === 'NOT_AT_SERVER') return [];
  throw error;
}

export function nameTokens(logprobs: readonly TokenLogprobs[], textOf: TextOfToken): NamedOutputToken[];
export function nameTokens(logprobs: readonly PromptTokenLogprobs[], textOf: TextOfToken): NamedToken[];
export function nameTokens(logprobs: readonly PromptTokenLogprobs[], textOf: TextOfToken): NamedToken[] {
  return logprobs.map(({ tokenId, logprob, top }) => ({
    tokenId,
    text: textOf(tokenId),
    logprob: logprob === null ? null : finiteLogprob(logprob),
    top: top.map((other) => ({
      tokenId: other.tokenId,
      text: textOf(other.tokenId),
      logprob: finiteLogprob(other.logprob),
    })),
  }));
}
