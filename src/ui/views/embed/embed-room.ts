import { createStore } from 'zustand/vanilla';
import {
  EMBEDDER,
  RERANKER,
  topK,
  type EmbedderHandle,
  type EncoderInfo,
  type Nearest,
  type TabserveClient,
  type WireError,
} from '../../../client/index.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { readText } from '../jobs/files/read-text.ts';
import { splitLines } from './split-lines.ts';

/** Lines with their vectors. */
export interface Embedded extends EmbeddedTexts {
  readonly lines: readonly string[];
  /** Vectors of other models can't be compared with them. */
  readonly modelId: string;
  /** The most tokens that the model reads of a line. */
  readonly maxTokens: number;
  readonly durationMs: number;
}

export interface EmbedProgress {
  readonly numDone: number;
  readonly numTexts: number;
  readonly elapsedMs: number;
}

export interface Hit extends Nearest {
  /** The reranker's score of the line for the query, from 0 to 1. */
  readonly rerankScore?: number;
  /** Whether the reranker read only the beginning of the query or of the line. */
  readonly isCut?: boolean | undefined;
}

export interface EmbedView {
  /** The text to embed, one a line. */
  readonly text: string;
  readonly progress: EmbedProgress | undefined;
  readonly embedded: Embedded | undefined;
  readonly query: string;
  /** Whether the model read only the beginning of the query of the hits. */
  readonly isQueryCut: boolean;
  /** Best first; those of the query before until its own come. */
  readonly hits: readonly Hit[];
  readonly reranks: boolean;
  /** Why the lines weren't embedded. */
  readonly error: WireError | undefined;
  readonly searchError: WireError | undefined;
}

/** Lines that a search finds, and that a reranker reads. */
const NUM_HITS = 20;

/** Names of prompts for what is searched, as models have them. */
const DOCUMENT_PROMPTS: readonly string[] = ['document', 'passage'];

type Client = Pick<TabserveClient, 'getHandle' | 'status'>;

/** Embeds lines and searches them. A search supersedes the one before it. */
export class EmbedRoom {
  readonly store = createStore<EmbedView>(() => ({
    text: '',
    progress: undefined,
    embedded: undefined,
    query: '',
    isQueryCut: false,
    hits: [],
    reranks: false,
    error: undefined,
    searchError: undefined,
  }));
  readonly #client: Client;
  #embedding = new AbortController();
  #searching = new AbortController();

  constructor(client: Client) {
    this.#client = client;
  }

  setText(text: string): void {
    this.store.setState({ text });
  }

  /** Takes the text of a file; rejects where it is none, or in an encoding that would change it. */
  async open(file: File): Promise<void> {
    let text = '';
    for await (const piece of readText(file)) text += piece;
    this.setText(text);
  }

  /** Embeds the lines of the text in place of those before. */
  async embed(): Promise<void> {
    this.stop();
    const abort = (this.#embedding = new AbortController());
    const { lines } = splitLines(this.store.getState().text);
    const info = encoderOf(this.#client, EMBEDDER);
    if (!info || lines.length === 0) return;
    const startedAtMs = performance.now();
    const report = (numDone: number): void => {
      const elapsedMs = performance.now() - startedAtMs;
      this.store.setState({ progress: { numDone, numTexts: lines.length, elapsedMs } });
    };
    this.store.setState({ error: undefined });
    report(0);
    try {
      const texts = await embedTexts(this.#client.getHandle(EMBEDDER), lines, {
        signal: abort.signal,
        prompt: DOCUMENT_PROMPTS.find((name) => info.prompts.includes(name)),
        onProgress: report,
      });
      const durationMs = performance.now() - startedAtMs;
      const { id: modelId, maxTokens } = info;
      this.store.setState({
        embedded: { lines, ...texts, modelId, maxTokens, durationMs },
        hits: [],
        isQueryCut: false,
      });
      void this.search(this.store.getState().query);
    } catch (caught) {
      if (!abort.signal.aborted) this.store.setState({ error: toWireError(caught) });
    } finally {
      if (this.#embedding === abort) this.store.setState({ progress: undefined });
    }
  }

  /** Ends the embedding that goes on. What was embedded before stays. */
  stop(): void {
    this.#embedding.abort();
    this.store.setState({ progress: undefined });
  }

  setReranks(reranks: boolean): Promise<void> {
    this.store.setState({ reranks });
    return this.search(this.store.getState().query);
  }

  /** Finds the lines nearest to a query. The request of an earlier query is cancelled, and its answer is dropped. */
  async search(query: string): Promise<void> {
    this.#searching.abort();
    const { signal } = (this.#searching = new AbortController());
    this.store.setState({ query, searchError: undefined });
    const { embedded } = this.store.getState();
    const info = encoderOf(this.#client, EMBEDDER);
    if (!embedded || query.trim() === '' || info?.id !== embedded.modelId) {
      this.store.setState({ hits: [], isQueryCut: false });
      return;
    }
    try {
      const { embedding, isTruncated: isQueryCut } = await this.#client.getHandle(EMBEDDER).remote(query, {
        normalize: true,
        truncate: true,
        prompt: info.prompts.includes('query') ? 'query' : undefined,
        signal,
      });
      if (signal.aborted) return;
      const hits = topK(embedding, embedded.vectors, NUM_HITS);
      this.store.setState({ hits, isQueryCut });
      if (this.store.getState().reranks && encoderOf(this.#client, RERANKER))
        await this.#rerank(query, hits, embedded, signal);
    } catch (caught) {
      if (!signal.aborted) this.store.setState({ searchError: toWireError(caught) });
    }
  }

  async #rerank(
    query: string,
    hits: readonly Nearest[],
    { lines }: Embedded,
    signal: AbortSignal,
  ): Promise<void> {
    const documents = hits.map(({ index }) => lines[index] ?? '');
    const { results } = await this.#client
      .getHandle(RERANKER)
      .remote({ query, documents }, { truncate: true, signal });
    if (signal.aborted) return;
    this.store.setState({
      hits: results.flatMap(({ index, score, isTruncated: isCut }) => {
        const hit = hits[index];
        return hit ? { ...hit, rerankScore: score, isCut } : [];
      }),
    });
  }
}

/** The model of this deployment, if one serves. */
function encoderOf(client: Pick<TabserveClient, 'status'>, deployment: string): EncoderInfo | undefined {
  return client.status().encoders?.find((info) => info.deployment === deployment);
}

/**
 * Texts of one request: those of a sort window. The worker tokenizes a request between batches and queues its texts together, so
 * smaller requests make smaller batches. Larger ones show progress less often.
 */
const TEXTS_PER_REQUEST = 128;

/** Requests at a time: one is tokenized while another runs. */
const MAX_OUTSTANDING = 4;

interface EmbedTextsOptions {
  readonly signal: AbortSignal;
  /** One of the model's prompts, by name. */
  readonly prompt?: string | undefined;
  /** Called with the number of texts whose vectors have come. */
  readonly onProgress: (numDone: number) => void;
}

interface EmbeddedTexts {
  /** In the order of the texts. */
  readonly vectors: readonly Float32Array[];
  /** Texts that are longer than the model reads: their vectors are those of their beginnings. */
  readonly numCut: number;
}

/** Embeds many texts. The first error ends all requests. */
export async function embedTexts(
  embedder: EmbedderHandle,
  texts: readonly string[],
  { signal, prompt, onProgress }: EmbedTextsOptions,
): Promise<EmbeddedTexts> {
  const failing = new AbortController();
  const options = {
    normalize: true,
    truncate: true,
    prompt,
    signal: AbortSignal.any([signal, failing.signal]),
  };
  const vectors = texts.map((): Float32Array => new Float32Array());
  let [next, numDone, numCut] = [0, 0, 0];
  const sendInTurn = async (): Promise<void> => {
    while (next < texts.length) {
      const start = next;
      next += TEXTS_PER_REQUEST;
      const piece = await embedder.remote(texts.slice(start, next), options);
      for (const [row, { embedding, isTruncated }] of piece.entries()) {
        vectors[start + row] = embedding;
        if (isTruncated) numCut += 1;
      }
      numDone += piece.length;
      onProgress(numDone);
    }
  };
  try {
    await Promise.all(Array.from({ length: MAX_OUTSTANDING }, sendInTurn));
  } catch (error) {
    failing.abort();
    throw error;
  }
  return { vectors, numCut };
}
