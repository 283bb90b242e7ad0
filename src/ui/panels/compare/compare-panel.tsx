import { useState } from 'react';

import { useComposer } from '../../state/composer/composer-context.ts';
import { useServe } from '../../state/serve-context.ts';
import { promptsOfRun } from './compared-prompts.ts';
import { PolicyComparison, type PolicyComparisonProps } from './policy-comparison.tsx';
import { TwoModels } from './two-models.tsx';

interface ComparePanelProps extends Omit<PolicyComparisonProps, 'prompts'> {
  readonly isOfModels: boolean;
}

/** The run's prompts again: under each policy, or with two models. */
export function ComparePanel({ isOfModels, ...props }: ComparePanelProps) {
  const { store } = useServe();
  const composer = useComposer();
  const [prompts] = useState(() => promptsOfRun(store.getState(), composer));
  return isOfModels ? (
    <TwoModels {...props} prompts={prompts} />
  ) : (
    <PolicyComparison {...props} prompts={prompts} />
  );
}
