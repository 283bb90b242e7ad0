import { expect, it } from 'vitest';

import { SAMPLE_PROMPTS } from '../../state/composer/sample-prompts.ts';
import { summarizeRun } from '../../state/run-summary.ts';
import { recordedView } from '../../state/serve-store.ts';
import { replayableRun } from '../slots/replayable-run.ts';
import { describeMoment } from './describe-moment.ts';
import { readRecording } from './play-recording.ts';

const RECORDING = readRecording();
const { store, run, oneAtATimeMs } = RECORDING;
const view = recordedView(store);

it('the recording is a whole run of the prompts that Run sends, in batches of eight, faster than one at a time', () => {
  const requests = run.requestIds.map((id) => view.requests.get(id));
  expect(requests.map((request) => request?.prompt)).toEqual(SAMPLE_PROMPTS);
  expect(requests.map((request) => request?.status)).toEqual(requests.map(() => 'finished'));
  expect(replayableRun(view)).toBe(run);
  const { peakBatchSize, elapsedMs } = summarizeRun(run, view);
  expect(peakBatchSize).toBe(8);
  expect(elapsedMs).toBeLessThan(oneAtATimeMs);
});

it('says of each moment what the batch does, and at its end what it was good for', () => {
  const { bars } = view.history.slots;
  const [first, ninth] = [run.requestIds[0], run.requestIds[8]].map((id) =>
    bars.find(({ requestId }) => requestId === id),
  );
  const startedAtMs = first?.startedAtMs ?? 0;
  expect(describeMoment(RECORDING, startedAtMs - 0.01)).toMatch(
    /^Recording \(storyteller, CPU, .*× slower\): 9 prompts arrive at once\.$/,
  );
  const joinedAtMs = ninth?.startedAtMs ?? 0;
  expect(describeMoment(RECORDING, joinedAtMs - 10)).toMatch(
    /: 8 prompts share each step of the model, 1 waits for a slot\.$/,
  );
  expect(describeMoment(RECORDING, joinedAtMs + 1)).toMatch(
    /: a text ended, and the one that waited joined: 8 share each step\.$/,
  );
  expect(describeMoment(RECORDING, (run.endedAtMs ?? 0) - 0.01)).toMatch(/: the last text runs alone\.$/);
  expect(describeMoment(RECORDING)).toMatch(
    /^Recording \(storyteller, CPU, .*\): 9 prompts in .*, .*× faster than one at a time\. Press Run to do it here\.$/,
  );
});
