import type { TabserveClient } from '../../src/client/client.ts';
import { untilAborted } from '../../src/platform/until-aborted.ts';
import { NoModelError } from '../../src/protocol/errors/model.ts';
import type { ModelInfo } from '../../src/protocol/models.ts';

type Serving = Pick<TabserveClient, 'status' | 'ready'>;

/**
 * The model that generates, once it does.
 *
 * @throws NoModelError where only encoders or deployments serve; as `modelIfAny`.
 */
export async function servedModel(serve: Serving, signal: AbortSignal): Promise<ModelInfo> {
  const model = await modelIfAny(serve, signal);
  if (!model) throw NoModelError.of();
  return model;
}

/**
 * The model that generates, once the tab serves; undefined if only encoders or deployments do.
 *
 * @throws Whatever keeps the tab from serving; the signal's reason when it aborts.
 */
export async function modelIfAny(serve: Serving, signal: AbortSignal): Promise<ModelInfo | undefined> {
  const { state, model } = serve.status();
  // The last status still names a model that has failed or lost its tab.
  if (state === 'ready') return model;
  return (await untilAborted(serve.ready(), signal)).model;
}
