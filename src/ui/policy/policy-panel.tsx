import { Disclosure } from '../disclosure.tsx';
import { KnobField } from '../knob-field.tsx';
import { Panel } from '../panel.tsx';
import { configurePolicy } from '../state/connect-store.ts';
import { basePolicyOf } from '../state/base-policy.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import './policy-panel.css';
import { PolicySwitch } from './policy-switch.tsx';
import { KNOBS } from './policy-texts.ts';
import { PrefixCachingField } from './prefix-caching-field.tsx';

/** What is changed here applies at once, to the requests that run too; nothing needs a reload. */
export function PolicyPanel() {
  const { serve, store } = useServe();
  const policy = useServeView((view) => basePolicyOf(view.status));
  const isUpstream = useServeView((view) => view.status.backend?.name === 'upstream');
  if (isUpstream) {
    return (
      <Panel title="Batching policy" className="policy">
        <p className="policy-explanation">
          The upstream batches, as it is set up to: its knobs are turned where it runs.
        </p>
      </Panel>
    );
  }
  return (
    <Panel title="Batching policy" className="policy">
      <PolicySwitch />
      <Disclosure title="Knobs">
        <div className="knobs">
          {KNOBS.map((knob) => (
            <KnobField
              key={knob.name}
              knob={knob}
              valueInForce={policy[knob.name]}
              onApply={(value) => configurePolicy(serve, store, { [knob.name]: value })}
            />
          ))}
          <PrefixCachingField />
        </div>
      </Disclosure>
    </Panel>
  );
}
