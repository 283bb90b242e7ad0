import type { TokenLogprobs } from '../../protocol/generation.ts';
import { finiteLogprob, type NamedOutputToken } from '../../protocol/openai/logprobs.ts';

export type TextOfToken = (tokenId: number) => string;

/** The texts of tokens of the one model that answers a job: a result is read when another model may serve. */
export class TokenTexts {
  readonly #ask: (tokenIds: readonly number[]) => Promise<readonly string[]>;
  readonly #texts = new Map<number, string>();

  constructor(ask: (tokenIds: readonly number[]) => Promise<readonly string[]>) {
    this.#ask = ask;
  }

  readonly textOf: TextOfToken = (tokenId) => this.#texts.get(tokenId) ?? '';

  /** Undefined where all texts are known. */
  learn(logprobs: readonly TokenLogprobs[]): Promise<void> | undefined {
    const tokenIds = logprobs.flatMap(({ tokenId, top }) => [tokenId, ...top.map((each) => each.tokenId)]);
    const unknown = [...new Set(tokenIds)].filter((tokenId) => !this.#texts.has(tokenId));
    return unknown.length === 0 ? undefined : this.#learn(unknown);
  }

  /** Texts that nobody knows, as under an upstream, stay empty. */
  async #learn(tokenIds: readonly number[]): Promise<void> {
    const texts = await this.#ask(tokenIds).catch(() => []);
    for (const [at, tokenId] of tokenIds.entries()) this.#texts.set(tokenId, texts[at] ?? '');
  }
}

export function nameTokens(logprobs: readonly TokenLogprobs[], textOf: TextOfToken): NamedOutputToken[] {
  const name = ({ tokenId, logprob }: Pick<TokenLogprobs, 'tokenId' | 'logprob'>) => ({
    tokenId,
    text: textOf(tokenId),
    logprob: finiteLogprob(logprob),
  });
  return logprobs.map(({ top, ...token }) => ({ ...name(token), top: top.map(name) }));
}
