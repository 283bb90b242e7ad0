import type { WhenBusy } from '../../protocol/models.ts';
import type { LoadedModel } from '../runtime/loaded-model.ts';
import { ModelGenerator } from './model-generator.ts';
import { toServedModel } from '../../protocol/served-model.ts';
import type { TextDeployment } from './text-deployment.ts';

/** Serves with this model, as `use` says. Apart from the deployment, so that a worker starts without the engine. */
export function serveModel(
  deployment: Pick<TextDeployment, 'use'>,
  model: LoadedModel,
  whenBusy?: WhenBusy,
  signal?: AbortSignal,
): Promise<void> {
  return deployment.use(
    toServedModel(model.modelInfo, model.backendInfo),
    (options, policy) => new ModelGenerator(model, policy, options),
    whenBusy,
    signal,
  );
}
