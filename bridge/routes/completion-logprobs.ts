import type { Serve } from '../../src/worker/client/client.ts';
import type { PromptTokenLogprobs } from '../../src/worker/protocol/generation.ts';
import { modelReplaced } from './served-model.ts';

/** Stands for -Infinity, which JSON lacks, as in vLLM. */
const LOWEST_LOGPROB = -9999;

/** The texts of tokens. Only the worker knows them, and it is asked once for each token of a model. */
export class TokenTexts {
  readonly #serve: Serve;
  readonly #texts = new Map<number, string>();
  #modelId: string | undefined;

  constructor(serve: Serve) {
    this.#serve = serve;
  }

  /**
   * Log probabilities as in OpenAI's completions: lists with an entry for each token. An entry is null for the first token of
   * a prompt.
   *
   * @param modelId The model that the tokens belong to.
   * @param startOffset Length of the choice's text before them.
   * @throws HttpError if another model serves by now, as it doesn't know these tokens.
   */
  async describe(entries: readonly PromptTokenLogprobs[], modelId: string, startOffset: number) {
    await this.#learn(entries, modelId);
    const tokens = entries.map(({ tokenId }) => this.#textOf(tokenId));
    let offset = startOffset;
    return {
      tokens,
      token_logprobs: entries.map(({ logprob }) => (logprob === null ? null : finite(logprob))),
      // The token itself is included even if it isn't one of the likeliest.
      top_logprobs: entries.map(({ tokenId: ownId, logprob: own, top }) =>
        own === null
          ? null
          : Object.fromEntries(
              [...top, { tokenId: ownId, logprob: own }].map(({ tokenId, logprob }) => [
                this.#textOf(tokenId),
                finite(logprob),
              ]),
            ),
      ),
      /** Where each token begins in the choice's text. */
      text_offset: tokens.map((text) => {
        offset += text.length;
        return offset - text.length;
      }),
    };
  }

  /**
   * A prompt's log probabilities as in vLLM: by token id, those of the likeliest tokens and of the prompt's own. The rank is 1
   * for the likeliest, and null for a prompt token that isn't among the likeliest.
   *
   * @throws HttpError as `describe`.
   */
  async describePrompt(entries: readonly PromptTokenLogprobs[], modelId: string) {
    await this.#learn(entries, modelId);
    return entries.map(({ tokenId: ownId, logprob: own, top }) => {
      if (own === null) return null;
      const ranked = top.map((entry, index) => ({ ...entry, rank: index + 1 }));
      const isAmongThem = top.some(({ tokenId }) => tokenId === ownId);
      const all = isAmongThem ? ranked : [...ranked, { tokenId: ownId, logprob: own, rank: null }];
      return Object.fromEntries(
        all.map(({ tokenId, logprob, rank }) => [
          tokenId,
          { logprob: finite(logprob), rank, decoded_token: this.#textOf(tokenId) },
        ]),
      );
    });
  }

  async #learn(entries: readonly PromptTokenLogprobs[], modelId: string): Promise<void> {
    if (modelId !== this.#modelId) {
      this.#checkServing(modelId);
      this.#texts.clear();
      this.#modelId = modelId;
    }
    const tokenIds = entries.flatMap(({ tokenId, top }) => [tokenId, ...top.map((entry) => entry.tokenId)]);
    const unknown = [...new Set(tokenIds)].filter((tokenId) => !this.#texts.has(tokenId));
    if (unknown.length === 0) return;
    const texts = await this.#serve.tokenTexts(unknown);
    this.#checkServing(modelId);
    for (const [index, tokenId] of unknown.entries()) this.#texts.set(tokenId, texts[index] ?? '');
  }

  #checkServing(modelId: string): void {
    if (this.#serve.status().model?.id !== modelId) throw modelReplaced();
  }

  #textOf(tokenId: number): string {
    return this.#texts.get(tokenId) ?? '';
  }
}

function finite(logprob: number): number {
  return Math.max(logprob, LOWEST_LOGPROB);
}
