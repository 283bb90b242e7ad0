import type { ClientUpdate } from '../../worker/client/client.ts';
import type { ClientId, RequestId } from '../../worker/protocol/ids.ts';
import type { FinishReason, TokenLogprobs } from '../../worker/protocol/generation.ts';
import type { RequestActivity } from '../../worker/protocol/requests.ts';
import type { WireError } from '../../worker/protocol/wire.ts';
import { formatJson } from '../format.ts';

export type RequestStatus = 'waiting' | 'running' | 'finished' | 'cancelled' | 'failed';

/** A request of the text generator. Times are on this tab's clock; durations are the worker's. */
export interface RequestView {
  readonly id: RequestId;
  /** 1 for the first request of this page; undefined for other tabs' requests. */
  readonly ordinal?: number;
  /** The tab of the request, where that is another one. Only that tab gets the text. */
  readonly clientId?: ClientId;
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
  readonly seed?: number;
  readonly error?: WireError;
  /** By continuation, once the request has finished, where requested. */
  readonly logprobs?: readonly (readonly TokenLogprobs[])[];
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
  // The worker refuses an input that is no text; its row shows the input.
  const whole = typeof input === 'string' ? input : formatJson(input);
  const prompt = whole.length > MAX_SHOWN_LENGTH ? `${whole.slice(0, MAX_SHOWN_LENGTH)}…` : whole;
  return { ...waitingView(requestId, prompt), ordinal };
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
    default:
      return update satisfies never;
  }
}

/** A request of another tab, with the start of its prompt. */
export function foreignRequestView(activity: RequestActivity): RequestView {
  const { requestId, clientId, inputPreview, state, numOutputTokens } = activity;
  return { ...waitingView(requestId, inputPreview), clientId, status: state, numOutputTokens };
}

function withChunk(view: RequestView, chunk: ChunkUpdate, receivedAtMs: number): RequestView {
  const numOutputTokens = view.numOutputTokens + chunk.tokenIds.length;
  const firstChunk = view.firstChunk ?? { receivedAtMs, numTokens: numOutputTokens };
  const elapsedMs = receivedAtMs - firstChunk.receivedAtMs;
  return {
    ...view,
    status: 'running',
    generatedTexts: appendText(view.generatedTexts, chunk),
    numOutputTokens,
    firstChunk,
    ...(chunk.ttftMs !== undefined && { ttftMs: chunk.ttftMs }),
    ...(elapsedMs > 0 && { tokensPerSecond: ((numOutputTokens - firstChunk.numTokens) * 1000) / elapsedMs }),
  };
}

function appendText(texts: readonly string[], { index, text }: ChunkUpdate): readonly string[] {
  const numTexts = Math.max(texts.length, index + 1);
  return Array.from({ length: numTexts }, (_, other) => (texts[other] ?? '') + (other === index ? text : ''));
}

function withResult(view: RequestView, { result }: FinishedUpdate): RequestView {
  const { queueWaitMs, ttftMs, tpotMs } = result.timings;
  const logprobs = result.choices.map((choice) => choice.logprobs ?? []);
  return {
    ...view,
    status: 'finished',
    generatedTexts: result.choices.map(({ generatedText }) => generatedText),
    numOutputTokens: result.usage.numOutputTokens,
    finishReason: result.finishReason,
    seed: result.seed,
    queueWaitMs,
    ttftMs,
    ...(result.logprobs && { logprobs }),
    ...(tpotMs > 0 && { tokensPerSecond: 1000 / tpotMs }),
  };
}

/** A cancelled request keeps its text, and is no error: its caller asked for it. */
function withError(view: RequestView, { error }: FailedUpdate): RequestView {
  if (error.code === 'REQUEST_CANCELLED') return { ...view, status: 'cancelled' };
  return { ...view, status: 'failed', error };
}
