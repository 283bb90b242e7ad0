import { EMBEDDER, type BatchKnobs } from '../../../client/index.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Knobs, type KnobTexts } from '../../parts/knob-field.tsx';
import { configureDeployment } from '../../state/serve-store.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';

const KNOBS: KnobTexts<keyof BatchKnobs> = {
  maxBatchSize: {
    label: 'Max batch size',
    unit: 'requests',
    hint: 'The most requests in one batch. A change applies to the next batch.',
  },
  batchWaitTimeoutMs: {
    label: 'Batch wait timeout',
    unit: 'ms',
    hint: 'How long to wait for more requests before starting. 0 starts as soon as a slot is free.',
  },
  maxConcurrentBatches: {
    label: 'Max concurrent batches',
    unit: 'batches',
    hint: 'The most batches that run at the same time. New requests wait meanwhile.',
  },
  sortWindow: {
    label: 'Sort window',
    unit: 'requests',
    hint: 'How many waiting requests are sorted by length before batches are cut, so that little is padded. 1 sorts nothing.',
  },
};

/** Encoders take texts, and measure batches in tokens. */
const ENCODER_KNOBS: typeof KNOBS = {
  ...KNOBS,
  maxBatchSize: {
    label: 'Max batch size',
    unit: 'tokens',
    hint: 'The most tokens in one batch, padding included. With 1, each text runs alone.',
  },
  sortWindow: { ...KNOBS.sortWindow, unit: 'texts' },
};

export function KnobsPanel({ name }: { readonly name: string }) {
  const { serve, store } = useServe();
  const knobs = useServeView(({ status }) => status.deployments.find((info) => info.name === name)?.knobs);
  return (
    <Disclosure title="Batching" startsOpen>
      <div className="stack loose">
        <p className="note">
          Works like Ray Serve’s <code>@serve.batch</code>: requests gather while they wait, and none joins a
          batch that is running.
        </p>
        <Knobs
          knobs={name === EMBEDDER ? ENCODER_KNOBS : KNOBS}
          values={knobs}
          onApply={(knob, value) => configureDeployment(serve, store, name, { [knob]: value })}
        />
      </div>
    </Disclosure>
  );
}
