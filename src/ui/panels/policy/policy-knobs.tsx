import type { BatchingPolicy } from '../../../client/index.ts';
import { CheckField } from '../../parts/field.tsx';
import { Knobs, type KnobTexts } from '../../parts/knob-field.tsx';
import { basePolicyOf, configurePolicy } from '../../state/serve-store.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { usePolicySetting, type PolicySwitch } from './use-policy-setting.ts';

/** The knobs that are numbers. */
const KNOBS: KnobTexts<Exclude<keyof BatchingPolicy, 'policy' | PolicySwitch>> = {
  maxBatchSize: {
    label: 'Max batch size',
    unit: 'sequences',
    hint: 'The most texts that share one step of the model.',
  },
  batchWaitTimeoutMs: {
    label: 'Batch wait timeout',
    unit: 'ms',
    hint: 'How long to wait for more requests before starting.',
  },
  maxBatchedTokens: {
    label: 'Max batched tokens',
    unit: 'prompt tokens',
    hint: 'Read between two steps. Fewer keep running texts even; more start new ones sooner.',
  },
  prefillStallMs: {
    label: 'Prefill stall',
    unit: 'ms',
    hint: 'How long new prompts may hold up running texts at a time. auto = about three steps. unlimited = no limit.',
  },
  maxQueuedRequests: {
    label: 'Max queued requests',
    unit: 'requests',
    hint: 'How many requests may wait. Further ones are refused. unlimited = no limit.',
  },
  kvCacheMemoryBytes: {
    label: 'K/V cache memory',
    unit: 'MiB',
    bytesPerUnit: 2 ** 20,
    hint: 'Memory for the keys and values of all texts. Requests wait for room. unlimited = all that the device allows.',
  },
  maxContextLength: {
    label: 'Max context length',
    unit: 'tokens',
    hint: 'The longest text, prompt and answer together. unlimited = all that the model and the device allow.',
  },
};

interface SwitchTexts {
  readonly name: PolicySwitch;
  readonly label: string;
  readonly hint: string;
}

const SWITCHES: readonly SwitchTexts[] = [
  {
    name: 'prefixCaching',
    label: 'Prefix caching',
    hint: 'Prompts that begin alike share that part’s work, so they start sooner. Texts don’t change.',
  },
  {
    name: 'promptLookup',
    label: 'Prompt lookup',
    hint: 'What a text repeats is guessed and checked several tokens at a time, where a CPU is faster so. Texts don’t change.',
  },
];

export function PolicyKnobs() {
  const { serve, store } = useServe();
  const policy = useServeView((view) => basePolicyOf(view.status));
  return (
    <Knobs
      knobs={KNOBS}
      values={policy}
      onApply={(name, value) => configurePolicy(serve, store, { [name]: value })}
    >
      {SWITCHES.map((texts) => (
        <SwitchField key={texts.name} {...texts} />
      ))}
    </Knobs>
  );
}

function SwitchField({ name, ...texts }: SwitchTexts) {
  const { shown, refusal, choose } = usePolicySetting(name);
  return (
    <CheckField
      name={name}
      {...texts}
      error={refusal?.message}
      checked={shown}
      onChange={(event) => void choose(event.target.checked)}
    />
  );
}
