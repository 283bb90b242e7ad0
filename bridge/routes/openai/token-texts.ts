import type { TabserveClient } from '../../../src/client/client.ts';
import type { PromptTokenLogprobs } from '../../../src/protocol/generation.ts';
import { LearnedTexts, nameTokens } from '../../../src/protocol/openai/learned-texts.ts';
import type { NamedToken } from '../../../src/protocol/openai/logprobs.ts';
import { modelReplaced } from '../../http/http-errors.ts';

/** Of a character in UTF-8. */
const MAX_BYTES = 4;

/** The texts of tokens. Only the worker knows them, and it is asked once for each token of a model. */
export class TokenTexts {
  readonly #serve: TabserveClient;
  #learned:
    | { readonly modelId: string; readonly texts: LearnedTexts; readonly decoded: Map<string, string> }
    | undefined;

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
    const { texts } = this.#learnedOf(modelId);
    await texts.learn(entries);
    return nameTokens(entries, texts.textOf);
  }

  /**
   * The text of tokens together, as a whole text: their characters may be split.
   *
   * @param modelId The model that the tokens belong to.
   * @throws HttpError if another model serves by now.
   */
  async decode(tokenIds: readonly number[], modelId: string): Promise<string> {
    const { decoded } = this.#learnedOf(modelId);
    const key = tokenIds.join();
    const known = decoded.get(key);
    if (known !== undefined) return known;
    const { text, modelId: decodedBy } = await this.#serve.detokenize(tokenIds);
    if (decodedBy !== modelId) throw modelReplaced();
    // More tokens than a character has bytes are no character that comes again.
    if (tokenIds.length <= MAX_BYTES) decoded.set(key, text);
    return text;
  }

  #learnedOf(modelId: string) {
    if (this.#learned?.modelId === modelId) return this.#learned;
    this.#checkServing(modelId);
    const texts = new LearnedTexts((tokenIds) => this.#ask(tokenIds, modelId));
    this.#learned = { modelId, texts, decoded: new Map() };
    return this.#learned;
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
