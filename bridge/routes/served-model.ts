import type { TabserveClient } from '../../src/client/client.ts';
import { untilAborted } from '../../src/platform/until-aborted.ts';
import type { ModelInfo } from '../../src/protocol/models.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';

/**
 * The model that serves, once one does.
 *
 * @throws Whatever keeps it from serving; the signal's reason when it aborts.
 */
export async function servedModel(
  serve: Pick<TabserveClient, 'status' | 'ready'>,
  signal: AbortSignal,
): Promise<ModelInfo> {
  const { state, model } = serve.status();
  // The last status still names a model that has failed or lost its tab.
  if (state === 'ready' && model) return model;
  const { model: next } = await untilAborted(serve.ready(), signal);
  if (!next) throw new Error('A worker that is ready has a model.');
  return next;
}

/** A text that began with one model cannot go on with another. */
export function modelReplaced(): HttpError {
  return new HttpError(503, 'Another model took over in the middle of the answer: ask again.', {
    code: 'MODEL_REPLACED',
  });
}
