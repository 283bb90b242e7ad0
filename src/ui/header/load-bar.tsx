import { useServeView } from '../state/serve-context.ts';
import { isLoading } from './describe-state.ts';

/** Lies over the bar's lower edge, so that nothing moves when the load ends. */
export function LoadBar() {
  const { state, progress, load } = useServeView((view) => view.status);
  const isStarting = isLoading(state);
  if (!isStarting && !load) return null;
  const { loaded = 0, total = 0 } = (isStarting ? progress : load) ?? {};
  return (
    <progress
      className="load-bar"
      aria-label={isStarting ? 'Loading the model' : `Loading ${load?.id}`}
      {...(total > 0 && { value: loaded, max: total })}
    />
  );
}
