import { useStore } from 'zustand';

import { useServe, useServeView } from '../state/serve-context.ts';
import { watchSettings } from './watch-settings.ts';

/** The moment that the pointer on a chart chooses, for the keyboard: all charts show their values there. */
export function MomentField() {
  const { store } = useServe();
  const isEmpty = useServeView(({ history }) => history.samples.length === 0);
  const windowSeconds = useStore(watchSettings, (settings) => settings.windowSeconds);
  const cursorSeconds = useStore(watchSettings, (settings) => settings.cursorSeconds);
  const newestSeconds = (): number => store.getState().history.samples.last('seconds') ?? 0;
  const ago = cursorSeconds === undefined ? 0 : Math.round(newestSeconds() - cursorSeconds);
  const choose = (secondsAgo: number): void =>
    watchSettings.setState({ cursorSeconds: secondsAgo > 0 ? newestSeconds() - secondsAgo : undefined });
  return (
    <label className="moment-field">
      Moment{' '}
      <input
        type="range"
        min={-windowSeconds}
        max={0}
        step={1}
        disabled={isEmpty}
        value={-ago}
        aria-valuetext={ago > 0 ? `${ago} s before the newest values` : 'the newest values'}
        onChange={(event) => choose(-Number(event.target.value))}
      />
    </label>
  );
}
