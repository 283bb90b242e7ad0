import { Disclosure } from '../disclosure.tsx';
import { Panel } from '../panel.tsx';
import { KnobField } from './knob-field.tsx';
import './policy-panel.css';
import { PolicySwitch } from './policy-switch.tsx';
import { KNOBS } from './policy-texts.ts';

/** What is changed here applies at once, to the requests that run too; nothing needs a reload. */
export function PolicyPanel() {
  return (
    <Panel title="Batching policy" className="policy">
      <PolicySwitch />
      <Disclosure title="Knobs">
        <div className="knobs">
          {KNOBS.map((knob) => (
            <KnobField key={knob.name} knob={knob} />
          ))}
        </div>
      </Disclosure>
    </Panel>
  );
}
