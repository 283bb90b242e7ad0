import { useState } from 'react';

import type { PolicyName, WireError } from '../../worker/protocol/protocol.ts';
import { ErrorLine } from '../error-line.tsx';
import { basePolicyOf } from '../state/base-policy.ts';
import { configurePolicy } from '../state/connect-store.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { toWireError } from '../state/to-wire-error.ts';
import { explainPolicy } from './explain-policy.ts';
import { POLICY_NAMES } from './policy-texts.ts';

export function PolicySwitch() {
  const { serve, store } = useServe();
  const ownPolicy = useServeView((view) => basePolicyOf(view.status).policy);
  // Set while the worker has not answered, so that the switch moves under the finger.
  const [chosen, setChosen] = useState<PolicyName>();
  const [error, setError] = useState<WireError>();
  const shown = chosen ?? ownPolicy;
  const explanation = useServeView((view) => explainPolicy(view.status, shown));

  const choose = async (policy: PolicyName): Promise<void> => {
    setChosen(policy);
    try {
      await configurePolicy(serve, store, { policy });
      setError(undefined);
    } catch (caught) {
      setError(toWireError(caught));
    } finally {
      setChosen(undefined);
    }
  };

  return (
    <fieldset className="policy-switch">
      <legend className="visually-hidden">Batching policy</legend>
      <div className="segments">
        {POLICY_NAMES.map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="policy"
              value={name}
              checked={name === shown}
              onChange={() => void choose(name)}
            />
            <span>{name}</span>
          </label>
        ))}
      </div>
      <p className="policy-explanation">{explanation}</p>
      {error && <ErrorLine error={error} />}
    </fieldset>
  );
}
