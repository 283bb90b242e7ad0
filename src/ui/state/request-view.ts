import type { ClientUpdate } from '../../worker/client/client.ts';
import type {
  ClientId,
  FinishReason,
  RequestActivity,
  RequestId,
  TokenLogprobs,
  WireError,
} from '../../worker/protocol/protocol.ts';
import { formatJson } from '../format.ts';

export type RequestStatus = 'waiting' | 'running' | 'finished' | 'cancelled' | 'failed';

/** One request as its row shows it. Times are on this tab's clock, durations as the worker measured them. */
export interface RequestView {
  readonly id: RequestId;
  /** 1 for the first request of this page; those of other tabs have none. */
  readonly ordinal?: number;
  /** The tab that it belongs to, where that is another one. Its text goes to that tab alone. */
  readonly clientId?: ClientId;
  readonly status: RequestStatus;
  readonly prompt: string;
  /** One for each continuation that this tab has heard of; at least one. */
  readonly generatedTexts: readonly string[];
  readonly numOutputTokens: number;
  readonly queueWaitMs?: number;
  readonly ttftMs?: number;
  readonly firstChunk?: { readonly receivedAtMs: number; readonly numTokens: number };
  /** Decode speed, the first token and what came before it left out. */
  readonly tokensPerSecond?: number;
  readonly finishReason?: FinishReason;
  readonly seed?: number;
  readonly error?: WireError;
  /** Of each continuation, once the request has finished, where they were asked for. */
  readonly logprobs?: readonly (readonly TokenLogprobs[])[];
}

type SubmittedUpdate = Extract<ClientUpdate, { type: 'submitted' }>;
type ChunkUpdate = Extract<ClientUpdate, { type: 'chunk' }>;
type FinishedUpdate = Extract<ClientUpdate, { type: 'finished' }>;
type FailedUpdate = Extract<ClientUpdate, { type: 'failed' }>;

export function isActive(status: RequestStatus): boolean {
  return status === 'waiting' || status === 'running';
}

/** More than any model's context, and what a page can lay out without a pause. */
const MAX_SHOWN_LENGTH = 20_000;

export function createRequestView({ requestId, input }: SubmittedUpdate, ordinal: number): RequestView {
  // What is no text is refused by the worker; its row shows what it was.
  const whole = typeof input === 'string' ? input : formatJson(input);
  const prompt = whole.length > MAX_SHOWN_LENGTH ? `${whole.slice(0, MAX_SHOWN_LENGTH)}…` : whole;
  return { id: requestId, ordinal, status: 'waiting', prompt, generatedTexts: [''], numOutputTokens: 0 };
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
      const generatedTexts = [''];
      return {
        id,
        ...(ordinal !== undefined && { ordinal }),
        status: 'waiting',
        prompt,
        generatedTexts,
        numOutputTokens: 0,
      };
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
      // It waits, as it did before.
      return view;
    case 'echo':
      // Its row shows the prompt as it is.
      return view;
    case 'answered':
      // By other deployments only.
      return view;
    default:
      return update satisfies never;
  }
}

/** A request of another tab: its state and figures, with the beginning of its prompt. */
export function foreignRequestView(activity: RequestActivity): RequestView {
  const { requestId, clientId, inputPreview, state, numOutputTokens } = activity;
  return {
    id: requestId,
    clientId,
    status: state,
    prompt: inputPreview,
    generatedTexts: [''],
    numOutputTokens,
  };
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

/** A cancelled request keeps the text it has; that its caller cancelled it is no error to show. */
function withError(view: RequestView, { error }: FailedUpdate): RequestView {
  if (error.code === 'REQUEST_CANCELLED') return { ...view, status: 'cancelled' };
  return { ...view, status: 'failed', error };
}
