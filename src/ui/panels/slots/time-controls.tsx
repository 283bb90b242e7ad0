import { lazy, Suspense, type RefObject } from 'react';
import { useStore } from 'zustand';

import { Button } from '../../parts/button.tsx';
import { Popover } from '../../parts/popover.tsx';
import { useRecordedView, useServe } from '../../state/serve-context.ts';
import { recordedView } from '../../state/serve-store.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { showAll } from '../watch/zoom.ts';
import { replayableRun } from './replayable-run.ts';

const SpanControls = lazy(async () => ({ default: (await import('./span-controls.tsx')).SpanControls }));
const MomentControls = lazy(async () => ({
  default: (await import('./moment-controls.tsx')).MomentControls,
}));

interface TimeControlsProps {
  readonly replayRef: RefObject<HTMLButtonElement | null>;
  /** Only a run of this page can be held. */
  readonly isRecording: boolean;
}

export function TimeControls({ replayRef, isRecording }: TimeControlsProps) {
  const { store } = useServe();
  const isZoomed = useStore(watchSettings, ({ zoom }) => zoom !== undefined);
  const canReplay = useRecordedView((view) => replayableRun(view) !== undefined);

  const replay = async (): Promise<void> => {
    const { startReplay } = await import('./replay.ts');
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    startReplay(recordedView(store), !isCalm);
  };

  return (
    <div className="slots-controls note">
      {isZoomed && (
        <Button variant="quiet" onClick={showAll}>
          Show all
        </Button>
      )}
      <Suspense>{!isRecording && <SpanControls />}</Suspense>
      <Button variant="quiet" ref={replayRef} disabled={!canReplay} onClick={() => void replay()}>
        Replay
      </Button>
      <Popover label="More slot controls" face="⋯">
        <Suspense>
          <MomentControls />
        </Suspense>
      </Popover>
    </div>
  );
}
