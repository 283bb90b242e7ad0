import { useCallback, useEffect, useState } from 'react';

import type { Serve } from '../../worker/client/client.ts';
import type { StoredModel } from '../../worker/protocol/models.ts';
import { Button } from '../button.tsx';
import { ErrorLine } from '../error-line.tsx';
import { useServe, useServeView } from '../state/serve-context.ts';
import { useAttempt } from '../use-attempt.ts';
import { describeStored } from './describe-load.ts';

export function StoredModels({ onLoad }: { readonly onLoad: (model: StoredModel) => void }) {
  const { serve } = useServe();
  const loading = useServeView(({ status }) => status.load?.id);
  const shownCode = useServeView(({ status }) => status.loadFailure?.error.code);
  const [models, setModels] = useState<readonly StoredModel[]>([]);
  const { refusal, attempt } = useAttempt();

  const list = useCallback(async () => setModels(await serve.storedModels()), [serve]);
  useEffect(() => followStoredModels(serve, () => void attempt(list)), [serve, attempt, list]);

  const remove = async (key: string): Promise<void> => {
    await serve.deleteModel(key);
    await list();
  };

  return (
    <>
      {/* The panel already shows why a load failed. */}
      {refusal && refusal.code !== shownCode && <ErrorLine error={refusal} />}
      {models.length > 0 && (
        <ul className="stored-models ruled-off" aria-label="Models on this device">
          {models.map((model) => (
            <li key={model.key}>
              <span className="stored-name">
                {model.id} <small className="muted">{describeStored(model)}</small>
              </span>
              {model.revision !== '' && (
                <Button variant="quiet" disabled={model.id === loading} onClick={() => onLoad(model)}>
                  {model.dtype ? 'Load' : 'Resume'}
                </Button>
              )}
              <Button
                variant="quiet"
                disabled={model.id === loading}
                aria-label={`Delete ${model.id}`}
                onClick={() => void attempt(() => remove(model.key))}
              >
                Delete
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/**
 * Calls `onChange` now, when a load starts or ends, and when this tab is shown again, because no message says that another tab has
 * deleted a model. Returns the release.
 */
function followStoredModels(serve: Serve, onChange: () => void): () => void {
  let known: string | undefined;
  const unsubscribe = serve.subscribe('status', ({ model, load, loadFailure }) => {
    const change = [model?.id, load?.id, loadFailure?.id].join();
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
