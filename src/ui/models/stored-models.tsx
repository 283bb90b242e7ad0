import { useEffect, useState } from 'react';

import type { Serve } from '../../worker/client.ts';
import type { StoredModel, WireError } from '../../worker/protocol.ts';
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

  useEffect(() => followStoredModels(serve, setModels, setFailure), [serve]);

  const remove = async (key: string): Promise<void> => {
    await serve.deleteModel(key);
    setModels(await serve.storedModels());
  };

  // A load that has failed for the same reason has said so.
  if (failure) return failure.code === toldCode ? null : <ErrorLine error={failure} />;
  if (models.length === 0) return null;
  return (
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
  );
}

/** Asks for them now, and whenever a load has begun or ended; returns the end of it. */
function followStoredModels(
  serve: Serve,
  onModels: (models: readonly StoredModel[]) => void,
  onFailure: (failure: WireError) => void,
): () => void {
  let known: string | undefined;
  return serve.subscribe('status', ({ model, load, loadFailure }) => {
    const change = [model?.id, load?.id, loadFailure?.id].join();
    if (change === known) return;
    known = change;
    serve.storedModels().then(onModels, (caught: unknown) => onFailure(toWireError(caught)));
  });
}
