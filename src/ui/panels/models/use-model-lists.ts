import { useCallback, useEffect, useState } from 'react';
import { useStore } from 'zustand';

import type { TabserveClient, StoredModel, SuggestedModel } from '../../../client/index.ts';
import { useServe } from '../../state/serve-context.ts';
import { useAttempt } from '../../parts/use-attempt.ts';
import { openRemoval } from './model-removal.ts';

interface ModelLists {
  readonly stored: readonly StoredModel[];
  readonly suggested: readonly SuggestedModel[];
}

const NO_MODELS: ModelLists = { stored: [], suggested: [] };

/** The models of this device, without deleted ones, and those that are known to run, kept up to date. */
export function useModelLists() {
  const { serve } = useServe();
  const [lists, setLists] = useState(NO_MODELS);
  const { refusal, attempt } = useAttempt();
  const hidden = useStore(openRemoval(serve).store, (view) => view.hidden);

  const list = useCallback(async () => {
    const [stored, suggested] = await Promise.all([serve.storedModels(), serve.suggestedModels()]);
    setLists({ stored, suggested });
  }, [serve]);
  useEffect(() => followStoredModels(serve, () => void attempt(list)), [serve, attempt, list]);

  const stored = lists.stored.filter(({ key }) => !hidden.has(key));
  return { ...lists, stored, refusal };
}

/**
 * Calls `onChange` now, when a load starts or ends, when a model is ejected, and when this tab is shown again, because no message says that another tab has
 * deleted a model. Returns the release.
 */
function followStoredModels(serve: TabserveClient, onChange: () => void): () => void {
  let known: string | undefined;
  const unsubscribe = serve.subscribe('status', ({ model, isEjected, encoders = [], load, loadFailure }) => {
    const inMemory = encoders.map((info) => [info.id, info.isEjected]);
    const change = [model?.id, isEjected, ...inMemory, load?.id, loadFailure?.id].join();
    if (change === known) return;
    known = change;
    onChange();
  });
  const refreshIfVisible = (): void => {
    if (document.visibilityState === 'visible') onChange();
  };
  const listening = new AbortController();
  document.addEventListener('visibilitychange', refreshIfVisible, { signal: listening.signal });
  window.addEventListener('focus', refreshIfVisible, { signal: listening.signal });
  return () => {
    unsubscribe();
    listening.abort();
  };
}
