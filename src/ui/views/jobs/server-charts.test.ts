import { expect, it } from 'vitest';
import { applyEvents, createServeStore, recordedView } from '../../state/serve-store.ts';
import { createStats, createStatus } from '../../testing/test-support.ts';
import { timeSpanOf } from '../../panels/watch/time-span.ts';
import { ServerRun } from './server-charts.tsx';

const page = createServeStore(
  createStatus({
    backend: { name: 'server', precision: 'unknown', adapter: 'http://there', fallbackReason: '' },
  }),
);
const run = new ServerRun(page);

function tell(sentAtMs: number, numRunning: number): void {
  const stats = createStats({
    workerStartedAtMs: performance.timeOrigin,
    sentAtMs,
    numRunning,
    numWaiting: 0,
  });
  applyEvents(page, [{ type: 'stats', stats, receivedAtMs: sentAtMs }], sentAtMs);
}

const runOfCharts = () => run.store.getState().runs.prompts;

it('lasts while stats tell of work, goes on after a short pause, and begins anew after a long one', () => {
  const end = run.follow();
  expect(runOfCharts()).toBeUndefined();
  tell(1000, 4);
  tell(1300, 4);
  expect(runOfCharts()).toMatchObject({ startedAtMs: 1000 });
  expect(timeSpanOf(recordedView(run.store), 1500)).toMatchObject({ isLive: true, endMs: 1500 });
  tell(1600, 0);
  expect(runOfCharts()).toMatchObject({ startedAtMs: 1000, endedAtMs: 1600 });
  tell(2000, 2);
  expect(runOfCharts()).toMatchObject({ startedAtMs: 1000, endedAtMs: undefined });
  tell(2300, 0);
  tell(5000, 2);
  expect(runOfCharts()).toMatchObject({ startedAtMs: 5000 });
  end();
});
