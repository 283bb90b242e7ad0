import type {
  EmbeddingModelV4,
  EmbeddingModelV4CallOptions,
  EmbeddingModelV4Result,
  RerankingModelV4,
} from '@ai-sdk/provider';

import type { EmbeddingOptions, RerankOptions } from '../index.ts';
import { replacedError, toCallError } from './errors.ts';
import type { OpenModel } from './model-opener.ts';
import { PROVIDER } from './read-settings.ts';

/** The most texts that the worker takes at once. */
const MAX_TEXTS = 10_000;

/** A model for `embed` and `embedMany`. Source: `EmbeddingModelV4` of the AI SDK. */
export class TabserveEmbeddingModel implements EmbeddingModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = PROVIDER;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall = MAX_TEXTS;
  readonly supportsParallelCalls = true;
  readonly #open: OpenModel;

  constructor(modelId: string, open: OpenModel) {
    this.modelId = modelId;
    this.#open = open;
  }

  async doEmbed(call: EmbeddingModelV4CallOptions): Promise<EmbeddingModelV4Result> {
    const { values, abortSignal: signal } = call;
    const own: EmbeddingOptions = call.providerOptions?.[PROVIDER] ?? {};
    const { serve, isServed } = await this.#open(this.modelId, 'embedder', signal);
    try {
      const answers = await serve.getHandle('embedder').remote(values, { ...own, ...(signal && { signal }) });
      if (!isServed()) throw replacedError();
      return {
        embeddings: answers.map(({ embedding }) => [...embedding]),
        usage: { tokens: answers.reduce((sum, { numTokens }) => sum + numTokens, 0) },
        warnings: [],
      };
    } catch (error) {
      throw toCallError(error, signal);
    }
  }
}

type RerankingCall = Parameters<RerankingModelV4['doRerank']>[0];
type RerankingResult = Awaited<ReturnType<RerankingModelV4['doRerank']>>;

/** A model for `rerank`. A document that is an object is ranked by its JSON. Source: `RerankingModelV4` of the AI SDK. */
export class TabserveRerankingModel implements RerankingModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = PROVIDER;
  readonly modelId: string;
  readonly #open: OpenModel;

  constructor(modelId: string, open: OpenModel) {
    this.modelId = modelId;
    this.#open = open;
  }

  /** Cuts pairs that are too long, unless `providerOptions.tabserve.truncate` is false. */
  async doRerank(call: RerankingCall): Promise<RerankingResult> {
    const { query, documents: given, topN, abortSignal: signal } = call;
    const own: RerankOptions = call.providerOptions?.[PROVIDER] ?? {};
    const documents =
      given.type === 'text' ? given.values : given.values.map((document) => JSON.stringify(document));
    const { serve, isServed } = await this.#open(this.modelId, 'reranker', signal);
    try {
      const { results } = await serve
        .getHandle('reranker')
        .remote({ query, documents }, { truncate: true, ...own, topN, ...(signal && { signal }) });
      if (!isServed()) throw replacedError();
      return { ranking: results.map(({ index, score }) => ({ index, relevanceScore: score })) };
    } catch (error) {
      throw toCallError(error, signal);
    }
  }
}
