import { CheckField } from '../check-field.tsx';
import { usePolicySetting } from './use-policy-setting.ts';

export function PrefixCachingField() {
  const { shown, refusal, choose } = usePolicySetting('prefixCaching');
  return (
    <CheckField
      name="prefixCaching"
      label="Prefix caching"
      hint="A prompt that begins as another one does takes over its keys and values: it starts sooner, and no text changes."
      error={refusal?.message}
      isChecked={shown}
      onChange={(isChecked) => void choose(isChecked)}
    />
  );
}
