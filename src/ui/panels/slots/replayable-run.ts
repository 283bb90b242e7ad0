import { latestRun } from '../../state/run.ts';
import type { RecordedView } from '../../state/serve-store.ts';
import type { Replay } from '../watch/watch-settings.ts';

export type Shown = Pick<RecordedView, 'runs' | 'history'>;

/** The last run, once it is over and where its forward passes are known. */
export function replayableRun({ runs, history: { slots } }: Shown): Replay['run'] | undefined {
  const run = latestRun(runs);
  const lastStepMs = slots.steps.at(-1)?.endedAtMs ?? -Infinity;
  const isOver = run?.endedAtMs !== undefined && slots.numLive === 0;
  return isOver && lastStepMs > run.startedAtMs ? run : undefined;
}
