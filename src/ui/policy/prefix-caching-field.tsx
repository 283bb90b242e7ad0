import { useState } from 'react';

import { CheckField } from '../check-field.tsx';
import { basePolicyOf } from '../state/base-policy.ts';
import { configurePolicy } from '../state/connect-store.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { toWireError } from '../state/to-wire-error.ts';

export function PrefixCachingField() {
  const { serve, store } = useServe();
  const inForce = useServeView((view) => basePolicyOf(view.status).prefixCaching);
  // Set while the worker has not answered, so that the mark moves under the finger.
  const [chosen, setChosen] = useState<boolean>();
  const [refusal, setRefusal] = useState<string>();

  const choose = async (prefixCaching: boolean): Promise<void> => {
    setChosen(prefixCaching);
    try {
      await configurePolicy(serve, store, { prefixCaching });
      setRefusal(undefined);
    } catch (caught) {
      setRefusal(toWireError(caught).message);
    } finally {
      setChosen(undefined);
    }
  };

  return (
    <CheckField
      name="prefixCaching"
      label="Prefix caching"
      hint="A prompt that begins as another one does takes over its keys and values: it starts sooner, and no text changes."
      error={refusal}
      isChecked={chosen ?? inForce}
      onChange={(isChecked) => void choose(isChecked)}
    />
  );
}
