import { useCallback, useEffect, useState } from 'react';

import type { Serve } from '../../worker/client/client.ts';
import type { StoredModel, WireError } from '../../worker/protocol/protocol.ts';
import { ErrorLine } from '../error-line.tsx';
import { useServe, useServeView } from '../state/serve-context.ts';
import { toWireError } from '../state/to-wire-error.ts';
import { describeStored } from './describe-load.ts';

interface StoredModelsProps {
  readonly onLoad: (model: StoredModel) => void;
}

/** What is on this device. */
export function StoredModels({ onLoad }: StoredModelsProps) {
  const { serve } = useServe();
  const loading = useServeView(({ status }) => status.load?.id);
  const toldCode = useServeView(({ status }) => status.loadFailure?.error.code);
  const [models, setModels] = useState<readonly StoredModel[]>([]);
  const [failure, setFailure] = useState<WireError>();

  const list = useCallback(async (): Promise<void> => {
    try {
      setModels(await serve.storedModels());
      setFailure(undefined);
    } catch (caught) {
      setFailure(toWireError(caught));
    }
  }, [serve]);
  useEffect(() => followStoredModels(serve, () => void list()), [serve, list]);

  const remove = async (key: string): Promise<void> => {
    try {
      await serve.deleteModel(key);
    } catch (caught) {
      setFailure(toWireError(caught));
      return;
    }
    await list();
  };

  return (
    <>
      {/* A load that has failed for the same reason has said so. */}
      {failure && failure.code !== toldCode && <ErrorLine error={failure} />}
      {models.length > 0 && (
        <ul className="stored-models" aria-label="Models on this device">
          {models.map((model) => (
            <li key={model.key}>
              <span className="stored-name">
                {model.id} <small>{describeStored(model)}</small>
              </span>
              {model.revision !== '' && (
                <button
                  type="button"
                  className="button-quiet"
                  disabled={model.id === loading}
                  onClick={() => onLoad(model)}
                >
                  {model.dtype ? 'Load' : 'Resume'}
                </button>
              )}
              <button
                type="button"
                className="button-quiet"
                disabled={model.id === loading}
                aria-label={`Delete ${model.id}`}
                onClick={() => void remove(model.key)}
              >
                Delete
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/**
 * Calls `onChange` now, whenever a load has begun or ended, and when this tab is looked at again: another one may have deleted a
 * model, of which no message tells. Returns the end of it.
 */
function followStoredModels(serve: Serve, onChange: () => void): () => void {
  let known: string | undefined;
  const unsubscribe = serve.subscribe('status', ({ model, load, loadFailure }) => {
    const change = [model?.id, load?.id, loadFailure?.id].join();
    if (change === known) return;
    known = change;
    onChange();
  });
  const look = (): void => {
    if (document.visibilityState === 'visible') onChange();
  };
  document.addEventListener('visibilitychange', look);
  window.addEventListener('focus', look);
  return () => {
    unsubscribe();
    document.removeEventListener('visibilitychange', look);
    window.removeEventListener('focus', look);
  };
}
