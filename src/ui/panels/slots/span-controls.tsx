import { useStore } from 'zustand';

import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/select.tsx';
import { useServe } from '../../state/serve-context.ts';
import { recordedView } from '../../state/serve-store.ts';
import { pausedAxisOf } from '../watch/time-span.ts';
import { watchSettings, WINDOW_SECONDS } from '../watch/watch-settings.ts';

const WINDOWS = WINDOW_SECONDS.map(
  (seconds) => [seconds, seconds < 60 ? `${seconds} s` : `${seconds / 60} min`] as const,
);

function showWindow(windowSeconds: number): void {
  watchSettings.setState(({ secondsAgo }) => ({
    windowSeconds,
    secondsAgo: Math.min(secondsAgo, windowSeconds),
  }));
}

/** How much of a run that goes on is shown, and whether it is held. */
export function SpanControls() {
  const { store } = useServe();
  const isPaused = useStore(watchSettings, ({ paused }) => paused !== undefined);
  const windowSeconds = useStore(watchSettings, (settings) => settings.windowSeconds);
  const pause = (): void => {
    watchSettings.setState({ paused: isPaused ? undefined : pausedAxisOf(recordedView(store)) });
  };
  return (
    <>
      <Select label="Window" value={windowSeconds} choices={WINDOWS} onChange={showWindow} />
      <Button variant="quiet" aria-pressed={isPaused} onClick={pause}>
        Pause
      </Button>
    </>
  );
}
