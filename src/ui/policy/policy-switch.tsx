import { ErrorLine } from '../error-line.tsx';
import { Segments } from '../segments.tsx';
import { useServeView } from '../state/serve-context.ts';
import { explainPolicy } from './explain-policy.ts';
import { POLICY_NAMES } from './policy-texts.ts';
import { usePolicySetting } from './use-policy-setting.ts';

export function PolicySwitch() {
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
