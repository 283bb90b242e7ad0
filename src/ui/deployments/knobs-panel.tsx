import type { BatchKnobs } from '../../worker/protocol/status.ts';
import { Knobs } from '../knob-field.tsx';
import type { KnobText } from '../knob-field.tsx';
import { Panel } from '../panel.tsx';
import { configureDeployment } from '../state/connect-store.ts';
import { useServe, useServeView } from '../state/serve-context.ts';

const KNOBS: readonly KnobText<keyof BatchKnobs>[] = [
  {
    name: 'maxBatchSize',
    label: 'Max batch size',
    unit: 'requests',
    hint: 'Requests in one batch at most. Read once per batch: a batch that gathers keeps its limit.',
  },
  {
    name: 'batchWaitTimeoutMs',
    label: 'Batch wait timeout',
    unit: 'ms',
    hint: 'How long the oldest waiting request may be held for company, from its arrival. 0 = not at all while a slot is free.',
  },
  {
    name: 'maxConcurrentBatches',
    label: 'Max concurrent batches',
    unit: 'batches',
    hint: 'Batches that run at the same time at most. While all run, what arrives gathers.',
  },
];

export function KnobsPanel({ name }: { readonly name: string }) {
  const { serve, store } = useServe();
  const knobs = useServeView(({ status }) => status.deployments.find((info) => info.name === name)?.knobs);
  return (
    <Panel title="Request batching">
      <p className="field-hint">
        Ray Serve’s <code>@serve.batch</code>: requests gather while they wait, and nobody joins a batch that
        runs.
      </p>
      <Knobs
        knobs={KNOBS}
        values={knobs}
        onApply={(knob, value) => configureDeployment(serve, store, name, { [knob]: value })}
      />
    </Panel>
  );
}
