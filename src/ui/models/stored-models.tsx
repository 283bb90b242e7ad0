import { useRef } from 'react';

import type { StoredModel } from '../../client/index.ts';
import { Button } from '../parts/button.tsx';
import { useServeView } from '../state/serve-context.ts';
import { describeStored } from './describe-load.ts';

interface StoredModelsProps {
  readonly models: readonly StoredModel[];
  readonly onLoad: (model: StoredModel) => void;
  readonly onRemove: (key: string) => void;
}

export function StoredModels({ models, onLoad, onRemove }: StoredModelsProps) {
  const loading = useServeView(({ status }) => status.load?.id);
  const placeRef = useRef<HTMLDivElement>(null);
  const remove = (key: string): void => {
    // The button goes with the model, so the list's place takes the focus.
    placeRef.current?.focus();
    onRemove(key);
  };
  return (
    <div ref={placeRef} tabIndex={-1}>
      {models.length > 0 && (
        <ul className="stack ruled-off" aria-label="Models on this device">
          {models.map((model) => (
            <li key={model.key} className="row">
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
                onClick={() => remove(model.key)}
              >
                Delete
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
