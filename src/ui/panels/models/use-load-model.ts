import { useState } from 'react';

import type { LoadFailure, LoadModelOptions, ModelReference, WireError } from '../../../client/index.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { useServe } from '../../state/serve-context.ts';

/** Loads a model for all tabs, and keeps the refusal that only this tab shows until the next load. `start` resolves with the error's code. */
export function useLoadModel() {
  const { serve } = useServe();
  const [refusal, setRefusal] = useState<WireError>();
  const start = async (
    model: ModelReference,
    options: LoadModelOptions = {},
  ): Promise<string | undefined> => {
    setRefusal(undefined);
    try {
      await serve.loadModel(model, options);
      return undefined;
    } catch (error) {
      setRefusal(refusalOf(error, serve.status().loadFailure));
      return toWireError(error).code;
    }
  };
  return { start, refusal, clearRefusal: () => setRefusal(undefined) };
}

/** The error of a load that only this tab shows. Every tab shows `failure`, and a cancelled load is no error. */
export function refusalOf(caught: unknown, failure: LoadFailure | undefined): WireError | undefined {
  const refusal = toWireError(caught);
  if (refusal.code === 'LOAD_CANCELLED') return undefined;
  const isShown = refusal.code === failure?.error.code && refusal.message === failure.error.message;
  return isShown ? undefined : refusal;
}
