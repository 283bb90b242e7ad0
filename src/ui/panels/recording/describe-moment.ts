import { describeFaster, formatCount, formatSeconds } from '../../parts/format.ts';
import { summarizeRun } from '../../state/run-summary.ts';
import { recordedView } from '../../state/serve-store.ts';
import { PLAY_MS } from './play-recording.ts';
import type { Recording } from './recording.ts';

/** What the recording shows. @param atMs How far it has played; left out at its end. */
export function describeMoment(recording: Recording, atMs?: number): string {
  const { modelId, machine, run } = recording;
  const of = `Recording (${modelId}, ${machine}`;
  if (atMs === undefined) return `${of}): ${describeEnd(recording)} Press Run to do it here.`;
  const slower = PLAY_MS / ((run.endedAtMs ?? 0) - run.startedAtMs);
  return `${of}, ${slower.toFixed(slower < 9.5 ? 1 : 0)}× slower): ${describeRows(recording, atMs)}`;
}

function describeRows({ store, run }: Recording, atMs: number): string {
  const { bars } = store.history.slots;
  const started = bars.filter(({ startedAtMs, spanIndex }) => spanIndex === 0 && startedAtMs <= atMs).length;
  const ended = bars.filter(({ endedAtMs = Infinity, end }) => end !== 'moved' && endedAtMs <= atMs).length;
  const [numRunning, numWaiting] = [started - ended, run.requestIds.length - started];
  if (started === 0) return `${formatCount(numWaiting)} prompts arrive at once.`;
  if (numRunning === 1) return 'the last text runs alone.';
  const shared = `${formatCount(numRunning)} prompts share each step of the model`;
  if (numWaiting > 0)
    return `${shared}, ${formatCount(numWaiting)} wait${numWaiting === 1 ? 's' : ''} for a slot.`;
  if (ended === 0) return `${shared}.`;
  // On one line, as before: the texts below don't move.
  return `a text ended, and the one that waited joined: ${formatCount(numRunning)} share each step.`;
}

function describeEnd({ store, run, oneAtATimeMs }: Recording): string {
  const { numRequests, elapsedMs } = summarizeRun(run, recordedView(store));
  const faster = describeFaster(elapsedMs, oneAtATimeMs);
  return `${formatCount(numRequests)} prompts in ${formatSeconds(elapsedMs)}, ${faster} than one at a time.`;
}
