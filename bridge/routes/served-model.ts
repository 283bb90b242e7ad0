import type { Serve } from '../../src/worker/client.ts';
import type { ModelInfo } from '../../src/worker/protocol.ts';

/**
 * The model that serves, once one does.
 *
 * @throws Whatever keeps it from serving; the signal's reason when it aborts.
 */
export async function servedModel(serve: Serve, signal: AbortSignal): Promise<ModelInfo> {
  const { model = await nextModel(serve, signal) } = serve.status();
  return model;
}

async function nextModel(serve: Serve, signal: AbortSignal): Promise<ModelInfo> {
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
