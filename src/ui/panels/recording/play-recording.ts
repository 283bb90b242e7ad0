import { DEFAULT_POLICY } from '../../../client/index.ts';
import { applyEvents, createServeStore, type ServeEvent } from '../../state/serve-store.ts';
import { closeReplay, playFrames } from '../slots/replay.ts';
import { watchSettings, type Replay } from '../watch/watch-settings.ts';
import recorded from './recorded-run.json' with { type: 'json' };
import type { Recording } from './recording.ts';

/** How long it plays, whatever the run took. */
export const PLAY_MS = 8000;
/** What was pressed begins a run by then, or nothing does. */
const PRESS_MS = 500;
const TOUCHES = ['pointerdown', 'keydown', 'wheel'] as const;

/** Gives a store of its own the messages that a page got from its worker. */
export function readRecording(): Recording {
  const { events, ...facts } = recorded;
  const store = createServeStore({
    state: 'ready',
    role: 'leader',
    policy: DEFAULT_POLICY,
    deployments: [],
    numTabs: 1,
    isHandover: false,
    isolationReason: '',
    waitReason: '',
  });
  store.history.recordPolicy(DEFAULT_POLICY.policy, 0);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `npm run write -- recording` got them from a client
  for (const event of events as unknown as readonly (ServeEvent & { readonly receivedAtMs: number })[])
    applyEvents(store, [event], event.receivedAtMs);
  const { prompts: run } = store.getState().runs;
  if (!run) throw new Error('The recording has no run: write it again.');
  return { store, run, ...facts };
}

let hasPlayed = false;

/** Plays it slowly, once in the life of the page. Its end stands at once where the reader wants no motion, and soon after a touch. */
export function playRecording({ run }: Recording, signal: AbortSignal): void {
  const { startedAtMs, endedAtMs = startedAtMs } = run;
  // The reader may have begun to replay it step by step.
  signal.addEventListener('abort', () => {
    if (isOf(run, watchSettings.getState().replay)) closeReplay();
  });
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (isCalm || hasPlayed) return;
  hasPlayed = true;
  const replay = { run, atMs: startedAtMs, isPlaying: true, isUnattended: true };
  watchSettings.setState({ replay });
  const stopFrames = playFrames((endedAtMs - startedAtMs) / PLAY_MS);
  const end = new AbortController();
  const finish = (): void => {
    end.abort();
    if (watchSettings.getState().replay?.isUnattended) closeReplay();
  };
  const stop = (): void => {
    stopFrames();
    setTimeout(finish, PRESS_MS);
  };
  for (const type of TOUCHES)
    addEventListener(type, stop, { capture: true, passive: true, once: true, signal: end.signal });
  const unsubscribe = watchSettings.subscribe(({ replay: next }) => {
    if (!next?.isPlaying) finish();
  });
  end.signal.addEventListener('abort', () => {
    stopFrames();
    unsubscribe();
  });
  signal.addEventListener('abort', () => end.abort());
}

/** Whether this replay is of the run. */
export function isOf({ requestIds }: Recording['run'], replay: Replay | undefined): boolean {
  return replay?.run.requestIds === requestIds;
}
