import type { ReactNode } from 'react';

import type { SuggestedModel } from '../../../client/index.ts';
import { openModelBox } from './open-model-box.ts';
import { Button } from '../../parts/button.tsx';
import './offered-models.css';
import { LoadState } from './load-state.tsx';
import { SuggestedModels } from './suggested-models.tsx';
import { useLoadModel } from './use-load-model.ts';
import { useModelLists } from './use-model-lists.ts';

interface OfferedModelsProps {
  readonly className?: string;
  readonly isOffered: (model: SuggestedModel) => boolean;
  /** Why a model is needed. */
  readonly children: ReactNode;
}

/** Suggested models of one kind, each with a button that loads it. */
export function OfferedModels({ className = '', isOffered, children }: OfferedModelsProps) {
  const { start, refusal } = useLoadModel();
  const { suggested, stored, refusal: listRefusal } = useModelLists();
  const models = suggested.filter(isOffered);
  return (
    <div className={`offered-models top stack ${className}`}>
      {children}
      <LoadState refusal={refusal ?? listRefusal} onRetry={(id) => void start(id)} />
      <SuggestedModels
        models={models}
        stored={stored}
        primaryId={models.find(({ obstacle }) => obstacle === '')?.id}
        onLoad={(id) => void start(id)}
      />
      <Button variant="quiet" onClick={openModelBox}>
        Another model…
      </Button>
    </div>
  );
}
