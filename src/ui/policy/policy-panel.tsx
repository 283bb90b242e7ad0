import type { PolicyName } from '../../worker/protocol/status.ts';
import { ErrorLine } from '../error-line.tsx';
import { Segments } from '../segments.tsx';
import { useIsUpstream, useServeView } from '../state/serve-context.ts';
import './policy-panel.css';
import { explainPolicy, POLICY_NAMES } from './policy-texts.ts';
import { usePolicySetting } from './use-policy-setting.ts';

const CHOICES = POLICY_NAMES.map((name): readonly [PolicyName, PolicyName] => [name, name]);

/** How requests share the model. */
export function PolicyPanel() {
  return (
    <section className="policy" aria-labelledby="policy-title">
      <h2 id="policy-title">Batching</h2>
      {useIsUpstream() ? (
        <p className="policy-explanation note">The upstream server batches by its own settings.</p>
      ) : (
        <PolicySwitch />
      )}
    </section>
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
      choices={CHOICES}
      onChange={(name) => void choose(name)}
    >
      <div className="policy-explanation">
        {refusal ? <ErrorLine error={refusal} /> : <p className="note">{explanation}</p>}
      </div>
    </Segments>
  );
}
