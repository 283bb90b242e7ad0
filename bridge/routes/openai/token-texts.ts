import type { TabserveClient } from '../../../src/client/client.ts';
import type { PromptTokenLogprobs } from '../../../src/protocol/generation.ts';
import { LearnedTexts, nameTokens } from '../../../src/protocol/openai/learned-texts.ts';
import type { NamedToken } from '../../../src/protocol/openai/logprobs.ts';
import { modelReplaced } from '../../http/http-errors.ts';

/** The texts of tokens. Only the worker knows them, and it is asked once for each token of a model. */
export class TokenTexts {
  readonly #serve: TabserveClient;
  #learned: { readonly modelId: string; readonly texts: LearnedTexts } | undefined;

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
    if (this.#learned?.modelId !== modelId) {
      this.#checkServing(modelId);
      this.#learned = { modelId, texts: new LearnedTexts((tokenIds) => this.#ask(tokenIds, modelId)) };
    }
    const { texts } = this.#learned;
    await texts.learn(entries);
    return nameTokens(entries, texts.textOf);
  }

  async #ask(tokenIds: readonly number[], modelId: string): Promise<readonly string[]> {
    const texts = await this.#serve.tokenTexts(tokenIds);
    this.#checkServing(modelId);
    return texts;
  }

  #checkServing(modelId: string): void {
    if (this.#serve.status().model?.id !== modelId) throw modelReplaced();
  }
}
