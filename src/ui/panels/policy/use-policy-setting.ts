import { useState } from 'react';
import type { BatchingPolicy } from '../../../client/index.ts';
import { basePolicyOf, configurePolicy } from '../../state/serve-store.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { useAttempt } from '../../parts/use-attempt.ts';

/** The knobs that are on or off. */
export type PolicySwitch = 'prefixCaching' | 'promptLookup';

/** A setting of the policy. Until the worker answers, the choice is shown, so that the control moves at once. */
export function usePolicySetting<Name extends 'policy' | PolicySwitch>(name: Name) {
  const { serve, store } = useServe();
  const inForce = useServeView((view) => basePolicyOf(view.status)[name]);
  const [chosen, setChosen] = useState<BatchingPolicy[Name]>();
  const { refusal, attempt } = useAttempt();
  const choose = async (value: BatchingPolicy[Name]): Promise<void> => {
    setChosen(() => value);
    await attempt(() => configurePolicy(serve, store, { [name]: value }));
    setChosen(undefined);
  };
  return { shown: chosen ?? inForce, refusal, choose };
}
