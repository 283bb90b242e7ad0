import { useId } from 'react';

import type { PolicyName } from '../../../client/index.ts';
import { ErrorLine } from '../../parts/error-line.tsx';
import { Segments } from '../../parts/segments.tsx';
import { useIsServer, useServeView } from '../../state/serve-context.ts';
import './policy-panel.css';
import { explainPolicy, POLICY_NAMES } from './policy-texts.ts';
import { usePolicySetting } from './use-policy-setting.ts';

const CHOICES = POLICY_NAMES.map((name): readonly [PolicyName, PolicyName] => [name, name]);

/**
 * How requests share the model.
 * @param name Of the radio buttons: two views that share it would be one group.
 */
export function PolicyPanel({ name = 'policy' }: { readonly name?: string }) {
  const titleId = useId();
  return (
    <section className="policy stack tight" aria-labelledby={titleId}>
      <h2 id={titleId}>Batching</h2>
      {useIsServer() ? (
        <p className="policy-explanation note">The server batches by its own settings.</p>
      ) : (
        <PolicySwitch name={name} />
      )}
    </section>
  );
}

function PolicySwitch({ name }: { readonly name: string }) {
  const { shown, refusal, choose } = usePolicySetting('policy');
  const explanation = useServeView((view) => explainPolicy(view.status, shown));
  return (
    <Segments
      legend="Batching policy"
      name={name}
      value={shown}
      choices={CHOICES}
      onChange={(policy) => void choose(policy)}
    >
      <div className="policy-explanation">
        {refusal ? <ErrorLine error={refusal} /> : <p className="note">{explanation}</p>}
      </div>
    </Segments>
  );
}
