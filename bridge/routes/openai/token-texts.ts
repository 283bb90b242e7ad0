import type { TabserveClient } from '../../../src/client/client.ts';
import type { PromptTokenLogprobs } from '../../../src/protocol/generation.ts';
import { finiteLogprob, type NamedToken } from '../../../src/protocol/openai/logprobs.ts';
import { modelReplaced } from '../../http/http-errors.ts';

/** The texts of tokens. Only the worker knows them, and it is asked once for each token of a model. */
export class TokenTexts {
  readonly #serve: TabserveClient;
  readonly #texts = new Map<number, string>();
  #modelId: string | undefined;

  constructor(serve: TabserveClient) {
    this.#serve = serve;
  }

  /**
   * Tokens with their texts.
   *
   * @param modelId The model that the tokens belong to.
   * @throws HttpError if another model serves by now, as it doesn't know these tokens.
   */
  async name(entries: readonly PromptTokenLogprobs[], modelId: string): Promise<readonly NamedToken[]> {
    await this.#learn(entries, modelId);
    return entries.map(({ tokenId, logprob, top }) => ({
      tokenId,
      text: this.#textOf(tokenId),
      logprob: logprob === null ? null : finiteLogprob(logprob),
      top: top.map((other) => ({
        tokenId: other.tokenId,
        text: this.#textOf(other.tokenId),
        logprob: finiteLogprob(other.logprob),
      })),
    }));
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
