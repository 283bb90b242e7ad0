import * as v from 'valibot';
import { MAX_CHOICES } from '../batching/generation/limits.ts';
import { finishReason, generationResult, logprobs, promptLogprobs } from './generation.ts';
import type { ClientId, RequestId } from './ids.ts';
import { servedModel } from './models.ts';
import { boundedList, count, duration, id, name, tokenIds, wireError, type Wire } from './wire.ts';

export const requestId = id<RequestId>();

const resumedChoice = v.object({
  /** All output tokens that the tab has received. */
  tokenIds,
  logprobs: v.exactOptional(logprobs),
  /** Left out where the prompt was not scored, or not yet. */
  promptLogprobs: v.exactOptional(promptLogprobs),
  /** Left out where the continuation has not ended. */
  finishReason: v.exactOptional(finishReason),
});
/** How far a lost worker had come with one continuation. */
export type ResumedChoice = Wire<typeof resumedChoice>;

const resumption = v.object({
  /** In order of their index; those after the last one that the tab has heard of are left out. */
  choices: boundedList(resumedChoice, MAX_CHOICES),
  /** The model that started the request; another one begins it anew. */
  model: v.exactOptional(servedModel),
  /** As the lost worker measured it; left out where the request had not started. */
  queueWaitMs: v.exactOptional(duration),
  /** As the lost worker measured it; left out where it sent no token. */
  ttftMs: v.exactOptional(duration),
  /** The lost worker had accepted the request: the next one may not refuse it for a full queue. */
  isAccepted: v.exactOptional(v.literal(true)),
});
/** How far a lost worker had come with a request. */
export type Resumption = Wire<typeof resumption>;

export const submittedRequest = v.object({
  requestId,
  input: v.unknown(),
  options: v.unknown(),
  /** From the submission to the sending to this worker, ms, on the tab's clock. */
  elapsedMs: duration,
  /** Left out at the request's first worker. */
  resumption: v.exactOptional(resumption),
});
/** One request as it goes to a worker. */
export type SubmittedRequest = Wire<typeof submittedRequest>;

export const caller = v.pipe(v.array(name), v.minLength(1), v.maxLength(3));
/**
 * The HTTP client: the peer, then its key, then its user. A name is unique only within the one before it.
 *
 * @useDeclaredType
 */
export type Caller = Wire<typeof caller>;

/** The turn that a submission belongs to. */
export interface TurnInfo {
  /** Submissions with the same name are one turn; a submission without it is a turn of its own. */
  readonly turnId?: string;
  /** Only the bridge may send it: the door for tabs drops it. */
  readonly caller?: Caller;
}

export const requestUpdate = v.variant('type', [
  /** The prompt and its options are valid and the queue had room: the request waits for its turn. Text generator only. */
  v.object({ type: v.literal('accepted'), requestId }),
  /** The first tokens of the prompt are computed. */
  v.object({
    type: v.literal('started'),
    requestId,
    /** From received to the first step. */
    queueWaitMs: duration,
    /** The model that answers. */
    model: servedModel,
  }),
  /** `model` begins it anew, because another one had begun it or an upstream cannot resume it: what came before is void. */
  v.object({
    type: v.literal('restarted'),
    requestId,
    /** The model that answers now. */
    model: servedModel,
  }),
  /**
   * The prompt, once for each continuation and before its first chunk: when the request starts, or with the prompt's logprobs
   * once they are there.
   */
  v.object({
    type: v.literal('echo'),
    requestId,
    /** The continuation that it begins, from 0. */
    index: count,
    /** Empty unless the caller asked for the prompt in the stream. */
    text: v.string(),
    /** One entry per prompt token, if they were asked for. */
    promptLogprobs: v.exactOptional(promptLogprobs),
  }),
  /** A piece of a continuation. */
  v.object({
    type: v.literal('chunk'),
    requestId,
    /** The continuation that it belongs to, from 0. */
    index: count,
    /** Whole characters only; empty while a character is incomplete, or may be part of a stop string. */
    text: v.string(),
    /** Tokens of `text`, or of a character that is not complete yet. */
    tokenIds,
    /** One entry per entry of `tokenIds`, if `logprobs` asked for them. */
    logprobs: v.exactOptional(logprobs),
    /** From received to the first token; on the first chunk only. */
    ttftMs: v.exactOptional(duration),
    /** On the first chunk, where it is known by then. */
    numPromptTokens: v.exactOptional(count),
    /** On a continuation's last chunk only. */
    finishReason: v.exactOptional(finishReason),
  }),
  /** From the text generator. */
  v.object({
    type: v.literal('finished'),
    requestId,
    /** What `result()` resolves with. */
    result: generationResult,
  }),
  /** From a deployment other than the text generator. */
  v.object({
    type: v.literal('answered'),
    requestId,
    /** What `result()` resolves with. */
    result: v.unknown(),
  }),
  /** The request ended with an error, or was cancelled. */
  v.object({
    type: v.literal('failed'),
    requestId,
    /** What `result()` rejects with. */
    error: wireError,
  }),
]);
/**
 * A worker's update of one request. In order: accepted, started, echo where it was asked for, chunk…, then finished,
 * answered or failed. The next worker starts the request again, and sends the chunks that come after those of the lost one.
 *
 * @useDeclaredType
 */
export type RequestUpdate = Wire<typeof requestUpdate>;

/** No update of a request comes after one of these. */
export const END_TYPES: ReadonlySet<string> = new Set<RequestUpdate['type']>([
  'finished',
  'answered',
  'failed',
]);

export const requestActivity = v.object({
  /** Unique over all tabs. */
  requestId,
  /** The tab that sent it. */
  clientId: id<ClientId>(),
  /** An HTTP client sent it, through the bridge. */
  isHttp: v.exactOptional(v.literal(true)),
  /** The deployment's name. */
  deployment: name,
  /** The beginning of its input, as text. */
  inputPreview: v.string(),
  /** `finished`, `cancelled` and `failed` are the last ones. */
  state: v.picklist(['waiting', 'running', 'finished', 'cancelled', 'failed']),
  /** So far. 0 for a deployment other than the text generator. */
  numOutputTokens: count,
});
/**
 * One request as the other tabs see it.
 *
 * @interface
 */
export type RequestActivity = Wire<typeof requestActivity>;
