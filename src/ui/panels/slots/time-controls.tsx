import { lazy, Suspense, type RefObject } from 'react';
import { useStore } from 'zustand';

import { Button } from '../../parts/button.tsx';
import { Popover } from '../../parts/popover.tsx';
import { useRecordedView, useServe } from '../../state/serve-context.ts';
import { recordedView } from '../../state/serve-store.ts';
import { pausedAxisOf } from '../watch/time-span.ts';
import { watchSettings } from '../watch/watch-settings.ts';
import { showAll } from '../watch/zoom.ts';
import { replayableRun } from './replayable-run.ts';

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
  const isPaused = useStore(watchSettings, ({ paused }) => paused !== undefined);
  const isZoomed = useStore(watchSettings, ({ zoom }) => zoom !== undefined);
  const canReplay = useRecordedView((view) => replayableRun(view) !== undefined);

  const pause = (): void => {
    watchSettings.setState({ paused: isPaused ? undefined : pausedAxisOf(recordedView(store)) });
  };
  const replay = async (): Promise<void> => {
    const { startReplay } = await import('./replay.ts');
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    startReplay(recordedView(store), !isCalm);
  };

  return (
    <div className="slots-controls row tight note">
      {isZoomed && (
        <Button variant="quiet" onClick={showAll}>
          Show all
        </Button>
      )}
      <Button variant="quiet" aria-pressed={isPaused} disabled={isRecording} onClick={pause}>
        Pause
      </Button>
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
