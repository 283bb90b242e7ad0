import { useEffect, useMemo, useRef } from 'react';
import { useStore } from 'zustand';

import { Button } from '../../parts/button.tsx';
import { useServe } from '../../state/serve-context.ts';
import { watchSettings, type Replay } from '../watch/watch-settings.ts';
import {
  changeReplay,
  closeReplay,
  closeOnNewRun,
  playFrames,
  positionOf,
  stepEndsOf,
  toggled,
  withPosition,
} from './replay.ts';

export function ReplayControls() {
  const replay = useStore(watchSettings, (settings) => settings.replay);
  return replay && <Controls replay={replay} />;
}

function Controls({ replay }: { readonly replay: Replay }) {
  const { store } = useServe();
  const { run, atMs, isPlaying } = replay;
  const stepEnds = useMemo(() => stepEndsOf(run, store), [run, store]);
  const playRef = useReplaying(isPlaying);

  const position = positionOf(stepEnds, atMs);
  const seconds = `${((atMs - run.startedAtMs) / 1000).toFixed(2)} s`;
  const goTo = (next: number): void => changeReplay((current) => withPosition(current, stepEnds, next));
  // Between two steps, the one before is the one that has ended.
  const isAfterStep = atMs > (stepEnds[position - 1] ?? run.startedAtMs);

  return (
    <fieldset className="slots-controls row tight slots-replay note">
      <legend className="visually-hidden">Replay of the last run</legend>
      <Button variant="quiet" onClick={() => goTo(position - (isAfterStep ? 0 : 1))}>
        Step back
      </Button>
      <Button
        variant="quiet"
        ref={playRef}
        className="replay-play button-quiet"
        onClick={() => changeReplay(toggled)}
      >
        {isPlaying ? 'Pause' : 'Play ×0.1'}
      </Button>
      <Button variant="quiet" onClick={() => goTo(position + 1)}>
        Step
      </Button>
      <input
        type="range"
        aria-label="Replay position"
        min={0}
        max={stepEnds.length}
        value={position}
        aria-valuetext={`step ${position} of ${stepEnds.length}, ${seconds}`}
        onChange={(event) => goTo(Number(event.target.value))}
      />
      <span className="replay-time" aria-hidden="true">
        {seconds} · step {position}/{stepEnds.length}
      </span>
      <Button variant="quiet" onClick={closeReplay}>
        Close
      </Button>
    </fieldset>
  );
}

/** Plays, and ends the replay with Escape or a new run. Returns the ref of the button that takes the focus. */
function useReplaying(isPlaying: boolean) {
  const { store } = useServe();
  const playRef = useRef<HTMLButtonElement>(null);
  useEffect(() => (isPlaying ? playFrames() : undefined), [isPlaying]);
  useEffect(() => closeOnNewRun(store), [store]);
  useEffect(() => {
    // The focus was on the button that these controls replace.
    playRef.current?.focus();
    document.addEventListener('keydown', closeOnEscape);
    return () => document.removeEventListener('keydown', closeOnEscape);
  }, []);
  return playRef;
}

/** A dialog above the page has its own Escape. */
function closeOnEscape({ key }: KeyboardEvent): void {
  if (key === 'Escape' && !document.querySelector('dialog[open]')) closeReplay();
}
