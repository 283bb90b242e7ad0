import { useStore } from 'zustand';

import { Button } from '../../parts/button.tsx';
import { Select } from '../../parts/select.tsx';
import { Term } from '../../parts/term.tsx';
import { useRecordedView, useServe } from '../../state/serve-context.ts';
import { watchSettings, WINDOW_SECONDS } from '../watch/watch-settings.ts';

const WINDOWS = WINDOW_SECONDS.map(
  (seconds) => [seconds, seconds < 60 ? `${seconds} s` : `${seconds / 60} min`] as const,
);

export function MomentControls() {
  return (
    <div className="roomy cluster">
      <WindowField />
      <MomentField />
      <TraceNewest />
      <SlotKey />
    </div>
  );
}

/** What the parts of a bar mean. Its color is its sender’s. */
function SlotKey() {
  return (
    <p className="slots-key note">
      <span className="swatch key-queue" /> waiting <span className="swatch key-prefill" />{' '}
      <Term name="prefill">prefill</Term> <span className="swatch key-decode" />{' '}
      <Term name="decode">decode</Term> <span className="swatch key-cut" /> cut off
    </p>
  );
}

function showWindow(windowSeconds: number): void {
  watchSettings.setState(({ secondsAgo }) => ({
    windowSeconds,
    secondsAgo: Math.min(secondsAgo, windowSeconds),
  }));
}

/** How much of what goes on is shown. */
function WindowField() {
  const windowSeconds = useStore(watchSettings, (settings) => settings.windowSeconds);
  return <Select label="Window" value={windowSeconds} choices={WINDOWS} onChange={showWindow} />;
}

/** The keyboard's way to choose a moment, whose values all charts show. */
function MomentField() {
  const isEmpty = useRecordedView(({ history }) => history.samples.length === 0);
  const windowSeconds = useStore(watchSettings, (settings) => settings.windowSeconds);
  const secondsAgo = useStore(watchSettings, (settings) => settings.secondsAgo);
  return (
    <label className="moment-field">
      Moment{' '}
      <input
        type="range"
        min={-windowSeconds}
        max={0}
        step={windowSeconds / 100}
        disabled={isEmpty}
        value={-secondsAgo}
        aria-valuetext={secondsAgo > 0 ? `${secondsAgo} s before the newest values` : 'the newest values'}
        onChange={(event) => watchSettings.setState({ secondsAgo: -Number(event.target.value) })}
      />
    </label>
  );
}

/** The keyboard's way to the bars. */
function TraceNewest() {
  const { store } = useServe();
  const isEmpty = useRecordedView(({ history }) => history.slots.bars.length === 0);
  const trace = (): void => {
    const newest = store.history.slots.requestIds().at(-1);
    if (newest !== undefined) watchSettings.setState({ tracedId: newest });
  };
  return (
    <Button variant="small" disabled={isEmpty} onClick={trace}>
      Trace newest
    </Button>
  );
}
