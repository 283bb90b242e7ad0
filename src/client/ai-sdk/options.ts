import { InvalidOptionError } from '../../batching/base/errors.ts';
import { requireOptions } from '../../batching/base/validate.ts';
import { isRecord } from '../../platform/is-record.ts';
import { checkedOptions, isClient } from '../base/refusals.ts';
import type {
  ConnectOptions,
  EmbedderHandle,
  GenerationOptions,
  LoadModelOptions,
  RerankerHandle,
  TabserveClient,
} from '../index.ts';

/** The methods of a client that a provider calls, whatever deployments its worker has. */
export interface TextClient extends Pick<TabserveClient, 'ready' | 'status' | 'loadModel' | 'generate'> {
  /** As the client's. */
  readonly jobs: TabserveClient['jobs'];
  /** As the client's. */
  getHandle(name: 'embedder'): EmbedderHandle;
  /** As the client's. */
  getHandle(name: 'reranker'): RerankerHandle;
}

/**
 * A connected client, or the options of `connect`: then the first call connects. `model` is `null` by default, because each call names
 * its model.
 */
export type TabserveOptions = (
  | ConnectOptions
  | {
      /** A connected client, or a promise of one. */
      readonly serve: TextClient | Promise<TextClient>;
    }
) & {
  /** How to load a model that a call names and that doesn't serve yet. */
  readonly load?: Omit<LoadModelOptions, 'signal'> | undefined;
};

/**
 * Checks what isn't left to `connect`.
 *
 * @throws InvalidOptionError, UnknownOptionError.
 */
export function checkOptions(options: TabserveOptions): void {
  requireOptions('createTabserve', options);
  const { load } = options;
  if (load !== undefined && !isRecord(load))
    throw InvalidOptionError.of('load', 'an object with options of loadModel()', load);
  if (!('serve' in options) || options.serve === undefined) return;
  checkedOptions(options, ['serve', 'load']);
  const { serve } = options;
  if (!('then' in Object(serve))) isClient('serve', serve);
}

/**
 * Generation options for `providerOptions.tabserve` that the AI SDK has no setting for. If both are given, the AI SDK's setting
 * counts.
 */
export type TabserveCallOptions = Omit<GenerationOptions, 'n' | 'echo'>;
