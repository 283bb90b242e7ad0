import { afterEach, describe, expect, it } from 'vitest';

import { watchSettings } from './watch-settings.ts';
import { ChartHistory } from '../../state/chart-history.ts';
import type { Run } from '../../state/run.ts';
import { createReport, createRequest, createStepRecord } from '../../testing/test-support.ts';
import { pausedAxisOf, timeSpanOf } from './time-span.ts';

function createRun(startedAtMs: number, endedAtMs?: number): Run {
  return { startedAtMs, endedAtMs, requestIds: [REQUEST.id] };
}

const REQUEST = createRequest('a', { status: 'running' });

const viewOf = (run: Run | undefined, request = REQUEST) => ({
  history: new ChartHistory(),
  runs: { prompts: run },
  requests: new Map([[request.id, request]]),
});

function spanOf(run: Run | undefined, nowMs: number) {
  return timeSpanOf(viewOf(run), nowMs);
}

function pauseAt(run: Run, nowMs: number): void {
  watchSettings.setState({ paused: pausedAxisOf(viewOf(run), nowMs) });
}

afterEach(() => watchSettings.setState(watchSettings.getInitialState(), true));

describe('the time axis', () => {
  it('begins with the run and ends now, up to the chosen length', () => {
    const run = createRun(1000);
    expect(spanOf(run, 3000)).toMatchObject({ startMs: 1000, endMs: 3000, untilMs: 3000, isLive: true });
    expect(spanOf(run, 31_000)).toMatchObject({ startMs: 21_000, endMs: 31_000, originMs: 1000 });
  });

  it('shows the last run once it is over, all of it', () => {
    expect(spanOf(createRun(1000, 31_000), 90_000)).toMatchObject({ startMs: 1000, endMs: 31_000 });
    expect(spanOf(createRun(1000, 2500), 9000)).toMatchObject({ startMs: 1000, endMs: 2500, isLive: false });
  });

  it('stands still once all requests are over, also where the last step is still to be reported', () => {
    const view = viewOf(createRun(1000), createRequest('a'));
    view.history.slots.record(...createReport({ steps: [createStepRecord({ agoMs: 10 })] }, 1700));
    for (const nowMs of [1800, 9000])
      expect(timeSpanOf(view, nowMs)).toMatchObject({ endMs: 1690, untilMs: 1690, isLive: false });
  });

  it('has a least length, of which the run takes what it has', () => {
    expect(spanOf(createRun(1000), 1010)).toMatchObject({ startMs: 1000, endMs: 1250, untilMs: 1010 });
    expect(spanOf(createRun(1000, 1120), 9000), 'a run that is over').toMatchObject({ endMs: 1120 });
  });

  it('is ten empty seconds before the first run', () => {
    expect(spanOf(undefined, 777)).toMatchObject({ startMs: 0, endMs: 10_000, untilMs: 0, isLive: false });
  });

  it('stands still in a pause, also when another run begins', () => {
    pauseAt(createRun(1000), 3000);
    const paused = spanOf(createRun(5000), 6000);
    expect(paused).toMatchObject({ startMs: 1000, endMs: 3000, untilMs: 3000, isLive: false });
    watchSettings.setState({ paused: undefined });
    expect(spanOf(createRun(5000), 6000)).toMatchObject({ startMs: 5000, endMs: 6000, isLive: true });
  });

  it('ends with the run in a pause that came later', () => {
    pauseAt(createRun(1000, 2500), 20_000);
    expect(spanOf(createRun(1000, 2500), 20_000)).toMatchObject({ startMs: 1000, endMs: 2500 });
  });

  it('is the whole run in a replay, of which the part that was replayed is drawn', () => {
    const run = createRun(1000, 40_000);
    watchSettings.setState({ replay: { run, atMs: 1500, isPlaying: true } });
    expect(spanOf(createRun(50_000), 51_000)).toMatchObject({ startMs: 1000, endMs: 40_000, untilMs: 1500 });
  });
});
