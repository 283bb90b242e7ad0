import { useRef, useState } from 'react';
import { useStore } from 'zustand';

import type { StoredModel } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { UndoNote } from '../../parts/undo-note.tsx';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { describeDeletion, describeStored } from './describe-load.ts';
import { openRemoval } from './model-removal.ts';
import './models-panel.css';

interface StoredModelsProps {
  readonly models: readonly StoredModel[];
  readonly onLoad: (model: StoredModel) => void;
}

export function StoredModels({ models, onLoad }: StoredModelsProps) {
  const removal = openRemoval(useServe().serve);
  const deleted = useStore(removal.store, ({ undoable }) => undoable?.id);
  const refusal = useStore(removal.store, (view) => view.refusal);
  const loading = useServeView(({ status }) => status.load?.id);
  /** The key of the model in use whose deletion waits for a yes. */
  const [asked, setAsked] = useState<string>();
  const placeRef = useRef<HTMLDivElement>(null);
  /** The pressed button goes, so the list's place takes the focus. */
  const act = (change?: () => void): void => {
    placeRef.current?.focus();
    setAsked(undefined);
    change?.();
  };
  return (
    <div ref={placeRef} tabIndex={-1}>
      {models.length > 0 && (
        <ul className="stack ruled-off" aria-label="Models on this device">
          {models.map((model) => (
            <li key={model.key} className="row">
              <span className="stored-name wrap grow">
                {model.id}{' '}
                <small className="muted">
                  {describeStored(model)}
                  {model.isInUse && ', in use'}
                </small>
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
                onClick={() => (model.isInUse ? setAsked(model.key) : act(() => removal.remove(model)))}
              >
                Delete
              </Button>
            </li>
          ))}
        </ul>
      )}
      {models
        .filter(({ key }) => key === asked)
        .map((model) => (
          <div key={model.key} role="alert" className="row note">
            <span className="stored-name wrap grow">{describeDeletion(model)}</span>
            <Button onClick={() => act(() => removal.remove(model))}>Delete it</Button>
            <Button variant="quiet" onClick={() => act()}>
              Keep it
            </Button>
          </div>
        ))}
      {refusal && <ErrorLine error={refusal} />}
      <UndoNote text={deleted && `Deleted ${deleted}.`} onUndo={() => act(() => removal.undo())} />
    </div>
  );
}
