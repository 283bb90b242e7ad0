import {
  TEXT_GENERATOR,
  type Activity,
  type Answer,
  type AnswerPart,
  type ClientUpdate,
  type FinishReason,
  type RequestActivity,
  type RequestId,
  type TokenLogprobs,
  type WireError,
} from '../../client/index.ts';
import { formatJson } from '../parts/format.ts';
import { senderOf, type Sender } from './sender.ts';
import { createAnswerView, updateAnswerView, type AnswerView } from './answer-view.ts';
import { isEncoder } from './is-encoder.ts';

/** Rows are in the order of submission. */
export interface RequestTables {
  /** The text generator's requests, those of other tabs included. */
  readonly requests: ReadonlyMap<RequestId, RequestView>;
  /** This tab's requests to all other deployments but the encoders, whose answers are large. */
  readonly answers: ReadonlyMap<RequestId, AnswerView>;
  /** This tab's requests so far by deployment, also those whose rows are gone. */
  readonly numSubmitted: ReadonlyMap<string, number>;
}

/** Messages of topics of a client, with the time of receipt on this tab's clock. */
export type RequestsEvent =
  | { readonly type: 'activity'; readonly activity: Activity }
  | { readonly type: 'requests'; readonly updates: readonly ClientUpdate[]; readonly receivedAtMs: number };

interface Draft {
  readonly requests: Map<RequestId, RequestView>;
  readonly answers: Map<RequestId, AnswerView>;
  readonly numSubmitted: Map<string, number>;
}

/** The most settled answers of a deployment; a page may stay open for days. Those that wait can be cancelled in the list. */
export const MAX_KEPT_ANSWERS = 500;

/** The most rows of requests that are over, and likewise of load tests and comparisons; thousands would be slow. */
const MAX_OVER = 300;

/** The most rows of other tabs' requests that are over, so that a busy tab doesn't fill every list. */
const MAX_FOREIGN_OVER = 50;

export function updateTables(
  { requests, answers, numSubmitted }: RequestTables,
  events: readonly RequestsEvent[],
  experiments: ReadonlyMap<RequestId, unknown>,
): RequestTables {
  if (events.length === 0) return { requests, answers, numSubmitted };
  const draft: Draft = {
    requests: new Map(requests),
    answers: new Map(answers),
    numSubmitted: new Map(numSubmitted),
  };
  for (const event of events) {
    if (event.type === 'activity') applyActivity(draft.requests, event.activity);
    else for (const update of event.updates) applyUpdate(draft, update, event.receivedAtMs);
  }
  // A load test takes no text of the run before it away.
  for (const isExperiment of [false, true])
    removeOldest(
      draft.requests,
      ({ id, status }) => !isActive(status) && experiments.has(id) === isExperiment,
      MAX_OVER,
    );
  for (const name of draft.numSubmitted.keys())
    removeOldest(
      draft.answers,
      ({ deployment, status }) => deployment === name && status !== 'waiting',
      MAX_KEPT_ANSWERS,
    );
  return draft;
}

/** Does nothing for an unknown request, whose row was cleared. */
function applyUpdate(
  { requests, answers, numSubmitted }: Draft,
  update: ClientUpdate,
  receivedAtMs: number,
): void {
  const { requestId } = update;
  const [request, answer] = [requests.get(requestId), answers.get(requestId)];
  if (update.type !== 'submitted') {
    if (request) requests.set(requestId, updateRequestView(request, update, receivedAtMs));
    if (answer) answers.set(requestId, updateAnswerView(answer, update, receivedAtMs));
  } else if (!request && !answer && !isEncoder(update.deployment)) {
    const ordinal = (numSubmitted.get(update.deployment) ?? 0) + 1;
    numSubmitted.set(update.deployment, ordinal);
    if (update.deployment === TEXT_GENERATOR) requests.set(requestId, createRequestView(update, ordinal));
    else answers.set(requestId, createAnswerView(update, ordinal, receivedAtMs));
  }
}

function applyActivity(
  requests: Map<RequestId, RequestView>,
  { isSnapshot, requests: changed }: Activity,
): void {
  if (isSnapshot) {
    const live = new Set(changed.map(({ requestId }) => requestId));
    // The next worker knows nothing of them: their tab is gone, or will send them again.
    for (const [id, row] of requests)
      if (row.sender !== undefined && isActive(row.status) && !live.has(id))
        requests.set(id, { ...row, status: 'cancelled' });
  }
  for (const activity of changed) {
    if (activity.deployment !== TEXT_GENERATOR) continue;
    // An ended request that isn't in the list was cleared.
    if (requests.has(activity.requestId) || isActive(activity.state))
      requests.set(activity.requestId, foreignRequestView(activity));
  }
  removeOldest(requests, isForeignOver, MAX_FOREIGN_OVER);
}

function isForeignOver({ sender, status }: RequestView): boolean {
  return sender !== undefined && !isActive(status);
}

/** Keeps the newest `maxKept` rows of a kind. */
function removeOldest<Id, Row>(rows: Map<Id, Row>, isOfKind: (row: Row) => boolean, maxKept: number): void {
  const ofKind = [...rows].filter(([, row]) => isOfKind(row));
  for (const [id] of ofKind.slice(0, Math.max(0, ofKind.length - maxKept))) rows.delete(id);
}

export type RequestStatus = 'waiting' | 'running' | 'finished' | 'cancelled' | 'failed';

/** A request of the text generator. Times are on this tab's clock; durations are the worker's. */
export interface RequestView {
  readonly id: RequestId;
  /** 1 for the first request of this page; undefined for other tabs' requests. */
  readonly ordinal?: number;
  /** Left out for a request of this tab. Only the sender gets the text. */
  readonly sender?: Sender;
  readonly status: RequestStatus;
  readonly prompt: string;
  /** One for each known continuation; at least one. */
  readonly generatedTexts: readonly string[];
  readonly numOutputTokens: number;
  readonly queueWaitMs?: number;
  readonly ttftMs?: number;
  readonly firstChunk?: { readonly receivedAtMs: number; readonly numTokens: number };
  /** Decode speed, without the first token. */
  readonly tokensPerSecond?: number;
  readonly finishReason?: FinishReason;
  /** A stop string or a stop token ended the text, and not the model. Unknown of another tab's request. */
  readonly isStopped?: boolean;
  /** The last chunk of each continuation, for a replay. */
  readonly lastChunks?: readonly (ReceivedChunk | undefined)[];
  readonly seed?: number;
  readonly numPromptTokens?: number;
  /** The prompt's tokens whose keys and values another request had left. */
  readonly numCachedTokens?: number;
  readonly error?: WireError;
  /** The first continuation of a chat, where the worker takes it apart. */
  readonly answer?: Answer;
  /** One for each choice of its shape, once the request has finished. */
  readonly choiceProbabilities?: readonly number[];
  /** By continuation, once the request has finished, where requested. */
  readonly logprobs?: readonly (readonly TokenLogprobs[])[];
}

/** A chunk of a continuation. The link to the chunk before it makes appending cheap: nothing is copied. */
interface ReceivedChunk {
  readonly receivedAtMs: number;
  /** The length of the continuation with this chunk. */
  readonly textLength: number;
  readonly before: ReceivedChunk | undefined;
}

type SubmittedUpdate = Extract<ClientUpdate, { type: 'submitted' }>;
type ChunkUpdate = Extract<ClientUpdate, { type: 'chunk' }>;
type FinishedUpdate = Extract<ClientUpdate, { type: 'finished' }>;
type FailedUpdate = Extract<ClientUpdate, { type: 'failed' }>;

export function isActive(status: RequestStatus): boolean {
  return status === 'waiting' || status === 'running';
}

/** Longer than any model's context, and short enough to lay out at once. */
const MAX_SHOWN_LENGTH = 20_000;

export function createRequestView({ requestId, input }: SubmittedUpdate, ordinal: number): RequestView {
  const whole = promptOf(input);
  const prompt = whole.length > MAX_SHOWN_LENGTH ? `${whole.slice(0, MAX_SHOWN_LENGTH)}…` : whole;
  return { ...waitingView(requestId, prompt), ordinal };
}

/** A text, or the newest message of a chat. The worker refuses any other input; its row shows the input. */
function promptOf(input: unknown): string {
  if (typeof input === 'string') return input;
  const last: unknown = Array.isArray(input) ? input.at(-1) : undefined;
  const isMessage = typeof last === 'object' && last !== null && 'content' in last;
  // The continuation begins on a line of its own.
  return isMessage && typeof last.content === 'string' ? `${last.content}\n` : formatJson(input);
}

function waitingView(id: RequestId, prompt: string): RequestView {
  return { id, status: 'waiting', prompt, generatedTexts: [''], numOutputTokens: 0 };
}

export function updateRequestView(
  view: RequestView,
  update: Exclude<ClientUpdate, SubmittedUpdate>,
  receivedAtMs: number,
): RequestView {
  switch (update.type) {
    case 'resubmitted':
      return { ...view, status: 'waiting' };
    case 'restarted': {
      const { id, ordinal, prompt } = view;
      return { ...waitingView(id, prompt), ...(ordinal !== undefined && { ordinal }) };
    }
    case 'started':
      return { ...view, status: 'running', queueWaitMs: update.queueWaitMs };
    case 'chunk':
      return withChunk(view, update, receivedAtMs);
    case 'finished':
      return withResult(view, update);
    case 'failed':
      return withError(view, update);
    case 'accepted':
    case 'echo':
    case 'answered':
      return view;
  }
}

/** A request of another tab, with the start of its prompt. */
function foreignRequestView(activity: RequestActivity): RequestView {
  const { requestId, inputPreview, state, numOutputTokens, finishReason } = activity;
  return {
    ...waitingView(requestId, inputPreview),
    sender: senderOf(activity),
    status: state,
    numOutputTokens,
    ...(finishReason && { finishReason }),
  };
}

function withChunk(view: RequestView, chunk: ChunkUpdate, receivedAtMs: number): RequestView {
  const numOutputTokens = view.numOutputTokens + chunk.tokenIds.length;
  const firstChunk = view.firstChunk ?? { receivedAtMs, numTokens: numOutputTokens };
  const elapsedMs = receivedAtMs - firstChunk.receivedAtMs;
  const generatedTexts = appendText(view.generatedTexts, chunk);
  const textLength = generatedTexts[chunk.index]?.length ?? 0;
  const lastChunks = generatedTexts.map((_, index) => {
    const before = view.lastChunks?.[index];
    return index === chunk.index ? { receivedAtMs, textLength, before } : before;
  });
  return {
    ...view,
    status: 'running',
    generatedTexts,
    ...(chunk.parts && chunk.index === 0 && { answer: withParts(view.answer, chunk.parts) }),
    lastChunks,
    numOutputTokens,
    firstChunk,
    ...(chunk.ttftMs !== undefined && { ttftMs: chunk.ttftMs }),
    ...(elapsedMs > 0 && { tokensPerSecond: ((numOutputTokens - firstChunk.numTokens) * 1000) / elapsedMs }),
  };
}

/** The page asks with no tools, so that an answer has no calls. */
function withParts(
  { reasoning, content }: Answer = { reasoning: '', content: '', toolCalls: [] },
  parts: readonly AnswerPart[],
): Answer {
  for (const part of parts) {
    if (part.type === 'reasoning') reasoning += part.text;
    else if (part.type === 'content') content += part.text;
  }
  return { reasoning, content, toolCalls: [] };
}

/** A continuation as it was at this time. */
export function textAt({ generatedTexts, lastChunks }: RequestView, index: number, atMs: number): string {
  let chunk = lastChunks?.[index];
  while (chunk && chunk.receivedAtMs > atMs) chunk = chunk.before;
  return (generatedTexts[index] ?? '').slice(0, chunk?.textLength ?? 0);
}

function appendText(texts: readonly string[], { index, text }: ChunkUpdate): readonly string[] {
  const numTexts = Math.max(texts.length, index + 1);
  return Array.from({ length: numTexts }, (_, other) => (texts[other] ?? '') + (other === index ? text : ''));
}

function withResult(view: RequestView, { result }: FinishedUpdate): RequestView {
  const { queueWaitMs, ttftMs, tpotMs } = result.timings;
  const logprobs = result.choices.map((choice) => choice.logprobs ?? []);
  const { numPromptTokens, numCachedTokens, numOutputTokens } = result.usage;
  const numTextTokens = result.choices.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return {
    ...view,
    status: 'finished',
    generatedTexts: result.choices.map(({ generatedText }) => generatedText),
    numOutputTokens,
    finishReason: result.finishReason,
    // The model's end token counts, and is no part of the text.
    isStopped: result.finishReason === 'stop' && numTextTokens === numOutputTokens,
    seed: result.seed,
    numPromptTokens,
    numCachedTokens,
    queueWaitMs,
    ttftMs,
    ...(result.answer && { answer: result.answer }),
    ...(result.choiceProbabilities && { choiceProbabilities: result.choiceProbabilities }),
    ...(result.logprobs && { logprobs }),
    ...(tpotMs > 0 && { tokensPerSecond: 1000 / tpotMs }),
  };
}

/** The caller cancelled the request: that is no error, and the text stays. */
function withError(view: RequestView, { error }: FailedUpdate): RequestView {
  if (error.code === 'REQUEST_CANCELLED') return { ...view, status: 'cancelled' };
  return { ...view, status: 'failed', error };
}
