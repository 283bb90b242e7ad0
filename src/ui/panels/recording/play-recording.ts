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
  const { events, stepFields, ...facts } = recorded;
  const store = createServeStore({
    state: 'ready',
    role: 'leader',
    policy: DEFAULT_POLICY,
    deployments: [],
    tabs: [],
    numTabs: 1,
    isHandover: false,
    isolationReason: '',
    waitReason: '',
  });
  store.history.recordPolicy(DEFAULT_POLICY.policy, 0);
  const texts = new Map<string, Told>();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `npm run write -- recording` got them from a client
  for (const event of events as unknown as readonly Packed[])
    applyEvents(store, [unpacked(event, stepFields, texts)], event.receivedAtMs);
  const { prompts: run } = store.getState().runs;
  if (!run) throw new Error('The recording has no run: write it again.');
  return { store, run, ...facts };
}

/** What a request's updates have told of its text. */
interface Told {
  readonly text: string;
  readonly generatedText: string;
  readonly tokenIds: readonly number[];
}

/** An event whose steps are rows of values, and whose results leave out what the updates before them have told. */
type Packed = ServeEvent & { readonly receivedAtMs: number };

function unpacked(event: Packed, stepFields: readonly string[], texts: Map<string, Told>): ServeEvent {
  if (event.type === 'stats') {
    const steps = event.stats.steps.map((values) =>
      Object.fromEntries(stepFields.map((field, index) => [field, Object.values(values)[index]])),
    );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    return { ...event, stats: { ...event.stats, steps } } as unknown as ServeEvent;
  }
  if (event.type !== 'requests') return event;
  const updates = event.updates.map((update) => {
    const told = texts.get(update.requestId) ?? { text: '', generatedText: '', tokenIds: [] };
    if (update.type === 'submitted') texts.set(update.requestId, { ...told, text: String(update.input) });
    if (update.type === 'chunk')
      texts.set(update.requestId, {
        text: told.text + update.text,
        generatedText: told.generatedText + update.text,
        tokenIds: [...told.tokenIds, ...update.tokenIds],
      });
    if (update.type !== 'finished') return update;
    const { finishReason, seed } = update.result;
    return { ...update, result: { ...update.result, ...told, choices: [{ ...told, finishReason, seed }] } };
  });
  return { ...event, updates };
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
