/** The deployment that makes vectors of texts. */
export const EMBEDDER = 'embedder';

/** The deployment that orders documents by how well they answer a query. */
export const RERANKER = 'reranker';

/** The most texts of one request. */
export const MAX_TEXTS = 10_000;

/** A text, or the IDs of its tokens, special ones included. */
export type EmbeddingText = string | readonly number[];

/** Options of the embedder. */
export interface EmbeddingOptions {
  /** Length of the vectors. Shorter ones are the beginning of the model's, which suits models trained for that (Matryoshka). */
  readonly dimensions?: number | undefined;
  /** Whether vectors have length 1. By default as the model's `modules.json` says. */
  readonly normalize?: boolean | undefined;
  /** Name of one of the model's prompts, such as `query`, which is put before each text. */
  readonly prompt?: string | undefined;
  /** Whether a text that is too long is cut. By default it is an error. */
  readonly truncate?: boolean | undefined;
}

/** The vector of one text. */
export interface Embedding {
  /** Its numbers, as many as the model has dimensions, or the option asks for. The vectors of one list share their memory. */
  readonly embedding: Float32Array;
  /** Tokens that the model has read, special ones included. */
  readonly numTokens: number;
  /** Whether the text was cut. */
  readonly isTruncated: boolean;
}

/** A query and the documents that the reranker compares with it. */
export interface RerankInput {
  /** The text to compare documents with. */
  readonly query: string;
  /** The texts to rank. */
  readonly documents: readonly string[];
}

/** Options of the reranker. */
export interface RerankOptions {
  /** How many documents the answer has; all by default. */
  readonly topN?: number | undefined;
  /** Whether a pair that is too long is cut, the longer text first. By default it is an error. */
  readonly truncate?: boolean | undefined;
}

/** Documents, best first. */
export interface Ranking {
  /** The most relevant document first. */
  readonly results: readonly {
    /** The document's index among those given. */
    readonly index: number;
    /** The sigmoid of the model's score, from 0 to 1. */
    readonly score: number;
    /** Whether the query or the document was cut. Servers other than Tabserve don't say. */
    readonly isTruncated?: boolean | undefined;
  }[];
  /** Tokens that the model has read, the query's once for each document. */
  readonly numTokens: number;
}
