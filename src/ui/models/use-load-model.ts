import { useState } from 'react';

import type { LoadModelOptions, ModelReference, WireError } from '../../client/index.ts';
import { useServe } from '../state/serve-context.ts';
import { refusalOf } from './refusal.ts';

/** Loads a model for all tabs, and keeps the refusal that only this tab shows until the next load. */
export function useLoadModel() {
  const { serve } = useServe();
  const [refusal, setRefusal] = useState<WireError>();
  const start = async (model: ModelReference, options: LoadModelOptions = {}): Promise<void> => {
    setRefusal(undefined);
    try {
      await serve.loadModel(model, options);
    } catch (error) {
      setRefusal(refusalOf(error, serve.status().loadFailure));
    }
  };
  return { start, refusal };
}
