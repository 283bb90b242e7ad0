import { useState } from 'react';

import type { BatchingPolicy } from '../../worker/protocol/status.ts';
import { ErrorLine } from '../error-line.tsx';
import { CheckField } from '../field.tsx';
import { Knobs } from '../knob-field.tsx';
import { Panel } from '../panel.tsx';
import { Segments } from '../segments.tsx';
import { basePolicyOf } from '../state/base-policy.ts';
import { configurePolicy } from '../state/connect-store.ts';
import { useIsUpstream, useServe, useServeView } from '../state/serve-context.ts';
import { useAttempt } from '../use-attempt.ts';
import './policy-panel.css';
import { explainPolicy, KNOBS, POLICY_NAMES } from './policy-texts.ts';

export function PolicyPanel() {
  const { serve, store } = useServe();
  const policy = useServeView((view) => basePolicyOf(view.status));
  if (useIsUpstream()) {
    return (
      <Panel title="Batching policy" className="policy">
        <p className="policy-explanation note">
          The upstream batches, as it is set up to: its knobs are turned where it runs.
        </p>
      </Panel>
    );
  }
  return (
    <Panel title="Batching policy" className="policy">
      <PolicySwitch />
      <Knobs
        knobs={KNOBS}
        values={policy}
        onApply={(name, value) => configurePolicy(serve, store, { [name]: value })}
      >
        <PrefixCachingField />
      </Knobs>
    </Panel>
  );
}

function PolicySwitch() {
  const { shown, refusal, choose } = usePolicySetting('policy');
  const explanation = useServeView((view) => explainPolicy(view.status, shown));
  return (
    <Segments
      legend="Batching policy"
      name="policy"
      value={shown}
      choices={POLICY_NAMES.map((name) => [name, name] as const)}
      onChange={(name) => void choose(name)}
    >
      <p className="policy-explanation note">{explanation}</p>
      {refusal && <ErrorLine error={refusal} />}
    </Segments>
  );
}

function PrefixCachingField() {
  const { shown, refusal, choose } = usePolicySetting('prefixCaching');
  return (
    <CheckField
      name="prefixCaching"
      label="Prefix caching"
      hint="A prompt that begins as another one does takes over its keys and values: it starts sooner, and no text changes."
      error={refusal?.message}
      checked={shown}
      onChange={(event) => void choose(event.target.checked)}
    />
  );
}

/** A setting of the policy. Until the worker answers, the choice is shown, so that the control moves at once. */
function usePolicySetting<Name extends 'policy' | 'prefixCaching'>(name: Name) {
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
