import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ChartHistory } from '../../state/chart-history.ts';
import type { Run } from '../../state/run.ts';
import { createReport, createStepRecord } from '../../testing/test-support.ts';
import { watchSettings, type Replay } from '../watch/watch-settings.ts';
import {
  changeReplay,
  isSucceeded,
  played,
  positionOf,
  startReplay,
  stepEndsOf,
  toggled,
  withPosition,
} from './replay.ts';
import { replayableRun } from './replayable-run.ts';

const RUN: Run = { startedAtMs: 1000, endedAtMs: 1500, requestIds: [] };
const REPLAY: Replay = { run: RUN, atMs: 1000, isPlaying: true };

/** With steps that ended at these times. */
function createView(endsMs: readonly number[], prompts: Run | undefined = RUN) {
  const history = new ChartHistory();
  const steps = endsMs.map((endMs, stepIndex) => createStepRecord({ stepIndex, agoMs: 2000 - endMs }));
  history.slots.record(...createReport({ steps }, 2000));
  return { history, runs: { prompts } };
}

describe('a replay', () => {
  beforeEach(() => watchSettings.setState({ replay: undefined }));
  afterEach(() => watchSettings.setState({ replay: undefined, paused: undefined }));

  it('needs a run that is over, with steps', () => {
    expect(replayableRun(createView([1100]))).toBe(RUN);
    expect(replayableRun(createView([900]))).toBeUndefined();
    expect(replayableRun(createView([1100], { ...RUN, endedAtMs: undefined }))).toBeUndefined();
    expect(replayableRun({ ...createView([1100]), runs: {} })).toBeUndefined();
  });

  it('begins with the run, and ends a pause', () => {
    watchSettings.setState({ paused: { run: undefined, endMs: 1200 } });
    startReplay(createView([1100]), true);
    expect(watchSettings.getState()).toMatchObject({ replay: REPLAY, paused: undefined });
  });

  it('has the steps of its run alone', () => {
    expect(stepEndsOf(RUN, createView([900, 1100, 1300, 1600]))).toEqual([1100, 1300]);
  });

  it('goes from the end of one step to the end of the next', () => {
    const ends = [1100, 1300];
    const at = [1000, 1100, 1299, 1300, 1500].map((atMs) => positionOf(ends, atMs));
    expect(at).toEqual([0, 1, 1, 2, 2]);
    expect([0, 1, 2, 3].map((position) => withPosition(REPLAY, ends, position))).toMatchObject([
      { atMs: 1000, isPlaying: false },
      { atMs: 1100 },
      { atMs: 1300 },
      { atMs: 1300 },
    ]);
  });

  it('plays ten times slower than the run, up to its end', () => {
    expect(played(REPLAY, 100)).toMatchObject({ atMs: 1010, isPlaying: true });
    expect(played({ ...REPLAY, atMs: 1495 }, 100)).toMatchObject({ atMs: 1500, isPlaying: false });
  });

  it('leaves out the time of a hidden page', () => {
    expect(played(REPLAY, 60_000).atMs).toBe(1020);
  });

  it('begins again where it is played from its end', () => {
    expect(toggled(REPLAY)).toMatchObject({ atMs: 1000, isPlaying: false });
    expect(toggled({ ...REPLAY, isPlaying: false, atMs: 1500 })).toMatchObject({
      atMs: 1000,
      isPlaying: true,
    });
  });

  it('is over once another run has begun, however short that was', () => {
    expect(isSucceeded(REPLAY, RUN)).toBe(false);
    expect(isSucceeded(REPLAY, { ...RUN, startedAtMs: 990 })).toBe(false);
    expect(isSucceeded(REPLAY, { ...RUN, endedAtMs: undefined })).toBe(true);
    expect(isSucceeded(REPLAY, { ...RUN, startedAtMs: 3000, endedAtMs: 3001 })).toBe(true);
  });

  it('stays closed once it is', () => {
    changeReplay((replay) => played(replay, 100));
    expect(watchSettings.getState().replay).toBeUndefined();
  });
});
