import type { StoredModel } from '../../worker/protocol/models.ts';
import { Button } from '../button.tsx';
import { useServeView } from '../state/serve-context.ts';
import { describeStored } from './describe-load.ts';

interface StoredModelsProps {
  readonly models: readonly StoredModel[];
  readonly onLoad: (model: StoredModel) => void;
  readonly onRemove: (key: string) => void;
}

export function StoredModels({ models, onLoad, onRemove }: StoredModelsProps) {
  const loading = useServeView(({ status }) => status.load?.id);
  if (models.length === 0) return null;
  return (
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
            onClick={() => onRemove(model.key)}
          >
            Delete
          </Button>
        </li>
      ))}
    </ul>
  );
}
