import { useStore } from 'zustand';

import { useServeView } from '../state/serve-context.ts';
import { watchSettings } from './watch-settings.ts';

/** The keyboard's way to choose a moment, whose values all charts show. */
export function MomentField() {
  const isEmpty = useServeView(({ history }) => history.samples.length === 0);
  const windowSeconds = useStore(watchSettings, (settings) => settings.windowSeconds);
  const secondsAgo = useStore(watchSettings, (settings) => settings.secondsAgo);
  return (
    <label className="moment-field note">
      Moment{' '}
      <input
        type="range"
        min={-windowSeconds}
        max={0}
        step={1}
        disabled={isEmpty}
        value={-secondsAgo}
        aria-valuetext={secondsAgo > 0 ? `${secondsAgo} s before the newest values` : 'the newest values'}
        onChange={(event) => watchSettings.setState({ secondsAgo: -Number(event.target.value) })}
      />
    </label>
  );
}
