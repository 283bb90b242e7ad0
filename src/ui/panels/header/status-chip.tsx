import { lazy, Suspense } from 'react';

import { Popover } from '../../parts/popover.tsx';
import { useIsServer, useServeView } from '../../state/serve-context.ts';
import { describeChip, textOf } from './chip-text.ts';
import { describeState, isLoading } from './describe-state.ts';
import { MODEL_BOX_BUTTON } from '../models/open-model-box.ts';

const StateFacts = lazy(async () => ({ default: (await import('./state-facts.tsx')).StateFacts }));
const ModelsPanel = lazy(async () => ({ default: (await import('../models/models-panel.tsx')).ModelsPanel }));

/** The model, how it runs and for how many tabs, in one line; its box has all facts and the choice of a model. */
export function StatusChip() {
  const status = useServeView((view) => view.status);
  const isServer = useIsServer();
  const { state, load, loadFailure, model } = status;
  const parts = describeChip(status);
  const isWarning = state === 'ready' && (load !== undefined || loadFailure !== undefined);
  return (
    <>
      <LoadBar />
      <output className="visually-hidden" data-testid="serve-state">
        {describeState(status)}
      </output>
      <output className="visually-hidden">
        {loadFailure?.id && model && `Couldn’t load ${loadFailure.id}. Still using ${model.id}.`}
      </output>
      <Popover
        label="Model and tabs"
        buttonLabel={`Model and tabs: ${textOf(parts)}`}
        className="status-chip"
        buttonId={MODEL_BOX_BUTTON}
        face={
          <span className="chip-line" data-state={isWarning ? 'warning' : state}>
            {parts.map(({ text, isExtra }, index) => (
              // The key is the text before the piece, so that a piece that would move is drawn anew.
              <span key={textOf(parts.slice(0, index))} className={isExtra ? 'chip-extra muted' : undefined}>
                {text}
              </span>
            ))}
          </span>
        }
      >
        <Suspense>
          <StateFacts />
          {!isServer && <ModelsPanel />}
        </Suspense>
      </Popover>
    </>
  );
}

/** Lies over the bar's upper edge: nothing moves when the load ends, and the chosen tab keeps its underline. */
function LoadBar() {
  const { state, progress, load } = useServeView((view) => view.status);
  const isStarting = isLoading(state);
  if (!isStarting && !load) return null;
  const { fraction } = (isStarting ? (load ?? progress) : load) ?? {};
  return (
    <progress
      className="load-bar"
      aria-label={isStarting ? 'Loading the model' : `Loading ${load?.id}`}
      {...(fraction !== undefined && { value: fraction })}
    />
  );
}
