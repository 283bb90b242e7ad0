import { CheckField } from '../parts/field.tsx';
import { Knobs } from '../parts/knob-field.tsx';
import { basePolicyOf } from '../state/base-policy.ts';
import { configurePolicy } from '../state/connect-store.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { KNOBS } from './policy-texts.ts';
import { usePolicySetting } from './use-policy-setting.ts';

export function PolicyKnobs() {
  const { serve, store } = useServe();
  const policy = useServeView((view) => basePolicyOf(view.status));
  return (
    <Knobs
      knobs={KNOBS}
      values={policy}
      onApply={(name, value) => configurePolicy(serve, store, { [name]: value })}
    >
      <PrefixCachingField />
    </Knobs>
  );
}

function PrefixCachingField() {
  const { shown, refusal, choose } = usePolicySetting('prefixCaching');
  return (
    <CheckField
      name="prefixCaching"
      label="Prefix caching"
      hint="Prompts that begin alike share that part’s work, so they start sooner. Texts don’t change."
      error={refusal?.message}
      checked={shown}
      onChange={(event) => void choose(event.target.checked)}
    />
  );
}
