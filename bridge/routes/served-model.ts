import type { Serve } from '../../src/worker/client/client.ts';
import type { ModelInfo } from '../../src/worker/protocol/models.ts';
import { untilAborted } from '../http/until-aborted.ts';

type ModelServer = Pick<Serve, 'status' | 'ready'>;

/**
 * The model that serves, once one does.
 *
 * @throws Whatever keeps it from serving; the signal's reason when it aborts.
 */
export async function servedModel(serve: ModelServer, signal: AbortSignal): Promise<ModelInfo> {
  const { state, model } = serve.status();
  // The last status still names a model that has failed or lost its tab.
  if (state === 'ready' && model) return model;
  const { model: next } = await untilAborted(serve.ready(), signal);
  if (!next) throw new Error('A worker that is ready has a model.');
  return next;
}
