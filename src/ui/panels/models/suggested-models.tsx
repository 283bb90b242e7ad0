import type { StoredModel, SuggestedModel } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { useServeView } from '../../state/serve-context.ts';
import { describeFit, describeModel, describeUse } from './describe-suggested.ts';
import './suggested-models.css';

interface SuggestedModelsProps {
  readonly models: readonly SuggestedModel[];
  readonly stored: readonly StoredModel[];
  /** The one to begin with. */
  readonly primaryId?: string | undefined;
  readonly onLoad: (id: string) => void;
}

/** Models that are known to run, each with what it takes on this device. */
export function SuggestedModels({ models, stored, primaryId, onLoad }: SuggestedModelsProps) {
  const served = useServeView(({ status }) => status.model?.id);
  const encoders = useServeView(({ status }) => status.encoders);
  const loading = useServeView(({ status }) => status.load?.id);
  return (
    <ul className="suggested-models apart" aria-label="Suggested models">
      {models.map((model) => {
        const { id, obstacle } = model;
        const isServed = id === served || encoders?.some((info) => info.id === id);
        const isStored = stored.some((one) => one.id === id && one.dtype !== undefined);
        const state = isServed ? 'In use' : id === loading ? 'Loading' : undefined;
        return (
          <li key={id}>
            <p>
              <strong>{id.slice(id.lastIndexOf('/') + 1)}</strong>{' '}
              <span className="note">{describeUse(model)}</span>
            </p>
            <p className="note">{describeModel(model, isStored)}</p>
            <p className="note" data-fits={obstacle === ''}>
              {describeFit(model)}
            </p>
            {state === undefined ? (
              <Button
                variant={id === primaryId ? 'primary' : 'small'}
                aria-label={`Load ${id}`}
                disabled={obstacle !== ''}
                onClick={() => onLoad(id)}
              >
                Load
              </Button>
            ) : (
              <span className="suggested-state note">{state}</span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
