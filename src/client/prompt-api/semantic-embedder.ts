import type { TabserveClient } from '../index.ts';
import { runUntilAborted } from './session.ts';
import { isIterable, toDictionary, toEnum, toSequence, toSignal, toText } from './web-idl.ts';

// The API as https://github.com/explainers-by-googlers/embedding-api proposes it.

/** The purpose of the vectors. */
export type SemanticEmbedderTaskType =
  | 'semantic-similarity'
  | 'retrieval-query'
  | 'retrieval-document'
  | 'classification'
  | 'clustering';

/** Names of the prompts that models have for a task, as sentence-transformers and EmbeddingGemma name them. */
const PROMPTS: Readonly<Record<SemanticEmbedderTaskType, readonly string[]>> = {
  'semantic-similarity': ['STS', 'similarity'],
  'retrieval-query': ['query'],
  'retrieval-document': ['document', 'passage'],
  classification: ['Classification', 'classification'],
  clustering: ['Clustering', 'clustering'],
};

const TASK_TYPES: readonly SemanticEmbedderTaskType[] = [
  'semantic-similarity',
  'retrieval-query',
  'retrieval-document',
  'classification',
  'clustering',
];

/** Options of `embed()`. */
export interface SemanticEmbedderEmbedOptions {
  /** Puts the model's prompt for this task before each text, if it has one. By default the text alone is read. */
  readonly taskType?: SemanticEmbedderTaskType | undefined;
  /** Rejects `embed()` with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The vectors of texts, in their order. */
export interface SemanticEmbedderResult {
  /** One for each text. */
  readonly embeddings: readonly {
    /** A vector, of length 1 for models that normalize. */
    readonly values: Float32Array;
  }[];
}

/** Makes vectors of texts. */
export class SemanticEmbedder {
  /** The longest text, in tokens. */
  readonly inputQuota: number;
  readonly #serve: TabserveClient;
  readonly #prompts: readonly string[];
  readonly #end = new AbortController();

  /** @param prompts Names of the model's prompts. */
  constructor(serve: TabserveClient, inputQuota: number, prompts: readonly string[]) {
    this.#serve = serve;
    this.inputQuota = inputQuota;
    this.#prompts = prompts;
  }

  /**
   * Rejects with a TypeError for an unknown task, with an AbortError after `destroy()`, or with the reason of the signal.
   *
   * @param input A text, or texts that are batched.
   */
  async embed(
    input: string | readonly string[],
    options: SemanticEmbedderEmbedOptions = {},
  ): Promise<SemanticEmbedderResult> {
    const { taskType, signal: own } = toDictionary('options', options);
    const task = taskType === undefined ? undefined : toEnum('taskType', taskType, TASK_TYPES);
    const prompt = task && PROMPTS[task].find((name) => this.#prompts.includes(name));
    const texts = isIterable(input) ? toSequence('input', input).map(toText) : [toText(input)];
    const given = toSignal(own);
    const signal = AbortSignal.any([this.#end.signal, ...(given ? [given] : [])]);
    return runUntilAborted(signal, async () => {
      const answers = await this.#serve.getHandle('embedder').remote(texts, { prompt, signal });
      return { embeddings: answers.map(({ embedding }) => ({ values: Float32Array.from(embedding) })) };
    });
  }

  /** Ends what runs. The model goes on to serve other tabs. */
  destroy(): void {
    this.#end.abort(new DOMException('The embedder was destroyed.', 'AbortError'));
  }
}
