import { useEffect, useState } from 'react';

import type { ModelReference, PlanModelOptions, PrecisionPlan, WireError } from '../../../client/index.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { useServe } from '../../state/serve-context.ts';

export interface ModelPlans {
  readonly plans: readonly PrecisionPlan[];
  /** Why the model can't be planned. */
  readonly error?: WireError;
}

/** What the model takes in each precision. Undefined until it is known, and without a model. */
export function useModelPlans(
  model: ModelReference | undefined,
  { revision, deployment }: PlanModelOptions = {},
): ModelPlans | undefined {
  const { serve } = useServe();
  const [read, setRead] = useState<ModelPlans & { readonly model: ModelReference }>();
  useEffect(() => {
    if (model === undefined) return undefined;
    let isGone = false;
    const keep = (next: ModelPlans): void => {
      if (!isGone) setRead({ model, ...next });
    };
    serve.planModel(model, { revision, deployment }).then(
      (plans) => keep({ plans }),
      (error: unknown) => keep({ plans: [], error: toWireError(error) }),
    );
    return () => {
      isGone = true;
    };
  }, [serve, model, revision, deployment]);
  return read?.model === model ? read : undefined;
}
