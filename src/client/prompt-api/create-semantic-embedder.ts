import { EMBEDDER } from '../../protocol/embedding.ts';
import type { EncoderInfo, TabserveClient } from '../index.ts';
import { startMonitor, type ReportProgress } from './create-monitor.ts';
import { notSupported } from './dom-errors.ts';
import { ModelHost, reportingTo, requireActivation } from './model-host.ts';
import { readMonitor } from './read-options.ts';
import { SemanticEmbedder } from './semantic-embedder.ts';
import { runUntilAborted } from './session.ts';
import type { Availability, CreateMonitor, PromptApiOptions } from './types.ts';
import { toDictionary, toSignal } from './web-idl.ts';

const EMBEDDING_MODEL = 'sentence-transformers/all-MiniLM-L6-v2';

/** Options of `create()`. */
export interface SemanticEmbedderCreateOptions {
  /** Called with an object that fires `downloadprogress`. */
  readonly monitor?: ((monitor: CreateMonitor) => unknown) | undefined;
  /** Rejects `create()` with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The class `SemanticEmbedder` of the proposed Embedding API. */
export interface SemanticEmbedderClass {
  readonly prototype: SemanticEmbedder;
  /** Says whether `create()` has to download a model. Rejects as `connect` does. */
  availability(): Promise<Availability>;
  /**
   * Loads the model for all tabs if need be. Rejects with a TypeError, the reason of the signal, or a DOMException:
   * NotSupportedError for a model that makes no vectors, NotAllowedError where a download has to wait for the user, NetworkError where
   * it fails.
   */
  create(options?: SemanticEmbedderCreateOptions): Promise<SemanticEmbedder>;
}

/**
 * Makes a class as the proposed `SemanticEmbedder`, and installs it nowhere. It shares the worker of all tabs.
 *
 * @throws As `createLanguageModel`.
 */
export function createSemanticEmbedder(options: PromptApiOptions): SemanticEmbedderClass {
  const host = new ModelHost(options, 'SemanticEmbedder');
  const { embeddingModel: wanted = EMBEDDING_MODEL } = options;
  const Made = class extends SemanticEmbedder {
    static async availability(): Promise<Availability> {
      return find(await host.connected(), wanted);
    }

    static async create(given?: SemanticEmbedderCreateOptions): Promise<SemanticEmbedder> {
      const { monitor, signal: own } = toDictionary('options', given);
      const signal = toSignal(own);
      signal?.throwIfAborted();
      const report = startMonitor(readMonitor(monitor), signal);
      return runUntilAborted(signal ?? new AbortController().signal, async () => {
        const serve = await host.connected();
        const { maxTokens, prompts } = await open(serve, wanted, options.load, report);
        return new Made(serve, maxTokens, prompts);
      });
    }
  };
  Object.defineProperty(Made, 'name', { value: 'SemanticEmbedder' });
  return Made;
}

async function find(serve: TabserveClient, wanted: string): Promise<Availability> {
  // The worker answers after its welcome, so the status below is its own. The call fails without storage.
  const stored = await serve.storedModels().catch(() => undefined);
  const { state, backend, load } = serve.status();
  if (state === 'closed' || backend?.name === 'server') return 'unavailable';
  if (embedderOf(serve, wanted)) return 'available';
  if (load?.id === wanted) return 'downloading';
  return stored?.some(({ id, dtype }) => id === wanted && dtype !== undefined) ? 'available' : 'downloadable';
}

/** Resolves when the model serves. @throws The errors that `create()` rejects with. */
async function open(
  serve: TabserveClient,
  wanted: string,
  load: PromptApiOptions['load'],
  report: ReportProgress,
): Promise<EncoderInfo> {
  const availability = await find(serve, wanted);
  if (availability === 'unavailable')
    throw notSupported('No model of the browser serves: connect again, or without a server.');
  if (availability === 'downloadable') requireActivation();
  report(0);
  if (!embedderOf(serve, wanted)) {
    await serve.loadModel(wanted, reportingTo(report, load));
  }
  const info = embedderOf(serve, wanted);
  if (!info) throw notSupported(`${wanted} makes no vectors: name an embedding model in \`embeddingModel\`.`);
  report(1);
  return info;
}

function embedderOf(serve: TabserveClient, wanted: string): EncoderInfo | undefined {
  return serve.status().encoders?.find(({ deployment, id }) => deployment === EMBEDDER && id === wanted);
}
