import type { Serve } from '../../src/worker/client/client.ts';
import type { ModelInfo } from '../../src/worker/protocol/protocol.ts';

type ModelServer = Pick<Serve, 'status' | 'ready'>;

/**
 * The model that serves, once one does.
 *
 * @throws Whatever keeps it from serving; the signal's reason when it aborts.
 */
export async function servedModel(serve: ModelServer, signal: AbortSignal): Promise<ModelInfo> {
  const { state, model } = serve.status();
  // One that has failed, or has no tab any more, is still named in the last status.
  return state === 'ready' && model ? model : nextModel(serve, signal);
}

async function nextModel(serve: ModelServer, signal: AbortSignal): Promise<ModelInfo> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => {
    const reason: unknown = signal.reason;
    reject(reason instanceof Error ? reason : new Error(String(reason)));
  };
  signal.addEventListener('abort', onAbort);
  try {
    const { model } = await Promise.race([serve.ready(), aborted]);
    if (!model) throw new Error('A worker that is ready has a model.');
    return model;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
