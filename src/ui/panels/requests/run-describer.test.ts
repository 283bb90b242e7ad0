import { expect, it } from 'vitest';

import type { TabserveStatus } from '../../../client/index.ts';
import type { RequestView } from '../../state/request-view.ts';
import { createServeStore, recordedView } from '../../state/serve-store.ts';
import {
  createReport,
  createRequest,
  createStatus,
  createStepRecord,
  createTables,
} from '../../testing/test-support.ts';
import { createRunDescriber } from './run-describer.ts';

/** Describes a run that began 400 ms before a worker's step of two rows, the last that the page has heard of. */
function describeRun(status: RequestView['status'], change: Partial<TabserveStatus> = {}): string {
  const view = recordedView(createServeStore(createStatus(change)));
  view.history.slots.record(...createReport({ steps: [createStepRecord({ batchSize: 2 })] }, 1400));
  const { requests, runs } = createTables(
    ['a', 'b'].map((name) => createRequest(name, { status })),
    ['a', 'b'],
  );
  const prompts = { ...runs.prompts, endedAtMs: undefined };
  return createRunDescriber(undefined)({ ...view, requests, runs: { prompts } });
}

it('says what a run has taken so far once all is done, until its last step is reported', () => {
  expect(describeRun('finished')).toBe('2 prompts in 0.4 s, up to 2 together.');
});

it('says whether what waits waits for the model', () => {
  expect(describeRun('waiting')).toBe('2 waiting');
  expect(describeRun('waiting', { state: 'loading', isHandover: true })).toBe('2 waiting for the model');
  expect(describeRun('waiting', { isEjected: true })).toBe('2 waiting for the model');
});
