import { useEffect, useState } from 'react';

import type { PrecisionPlan, WireError } from '../../../client/index.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { useServe } from '../../state/serve-context.ts';
import type { ModelChoice } from './model-choices.ts';

interface ModelPlans {
  readonly id: string;
  readonly plans: readonly PrecisionPlan[];
  /** Why the model can't be planned. */
  readonly error?: WireError;
}

/** What the model takes in each precision. Undefined until it is known, and for a model that is only compared as it is loaded. */
export function useModelPlans({ id, revision, isFixed = false }: ModelChoice): ModelPlans | undefined {
  const { serve } = useServe();
  const [read, setRead] = useState<ModelPlans>();
  useEffect(() => {
    if (isFixed) return undefined;
    let isGone = false;
    const keep = (next: ModelPlans): void => {
      if (!isGone) setRead(next);
    };
    serve.planModel(id, { revision }).then(
      (plans) => keep({ id, plans }),
      (error: unknown) => keep({ id, plans: [], error: toWireError(error) }),
    );
    return () => {
      isGone = true;
    };
  }, [serve, id, revision, isFixed]);
  return read?.id === id ? read : undefined;
}
