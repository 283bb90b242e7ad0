import { lazy, Suspense, type RefObject } from 'react';
import { useStore } from 'zustand';

import { Button } from '../../parts/button.tsx';
import { Popover } from '../../parts/popover.tsx';
import { Select } from '../../parts/select.tsx';
import { useRecordedView, useServe } from '../../state/serve-context.ts';
import { recordedView } from '../../state/serve-store.ts';
import { pausedAxisOf } from '../watch/time-span.ts';
import { watchSettings, WINDOW_SECONDS } from '../watch/watch-settings.ts';
import { showAll } from '../watch/zoom.ts';
import { replayableRun } from './replayable-run.ts';

const MomentControls = lazy(async () => ({
  default: (await import('./moment-controls.tsx')).MomentControls,
}));

const WINDOWS = WINDOW_SECONDS.map(
  (seconds) => [seconds, seconds < 60 ? `${seconds} s` : `${seconds / 60} min`] as const,
);

function showWindow(windowSeconds: number): void {
  watchSettings.setState(({ secondsAgo }) => ({
    windowSeconds,
    secondsAgo: Math.min(secondsAgo, windowSeconds),
  }));
}

interface TimeControlsProps {
  readonly replayRef: RefObject<HTMLButtonElement | null>;
  /** Only a run of this page can be held. */
  readonly isRecording: boolean;
}

export function TimeControls({ replayRef, isRecording }: TimeControlsProps) {
  const { store } = useServe();
  const isPaused = useStore(watchSettings, ({ paused }) => paused !== undefined);
  const windowSeconds = useStore(watchSettings, (settings) => settings.windowSeconds);
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
    <div className="slots-controls note">
      {!isRecording && (
        <Select label="Window" value={windowSeconds} choices={WINDOWS} onChange={showWindow} />
      )}
      {isZoomed && (
        <Button variant="quiet" onClick={showAll}>
          Show all
        </Button>
      )}
      {!isRecording && (
        <Button variant="quiet" aria-pressed={isPaused} onClick={pause}>
          Pause
        </Button>
      )}
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
