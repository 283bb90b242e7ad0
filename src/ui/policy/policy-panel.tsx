import { Knobs } from '../knob-field.tsx';
import { Panel } from '../panel.tsx';
import { basePolicyOf } from '../state/base-policy.ts';
import { configurePolicy } from '../state/connect-store.ts';
import { useIsUpstream, useServe, useServeView } from '../state/serve-context.ts';
import './policy-panel.css';
import { PolicySwitch } from './policy-switch.tsx';
import { KNOBS } from './policy-texts.ts';
import { PrefixCachingField } from './prefix-caching-field.tsx';

/** Changes apply at once, to running requests too. */
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
