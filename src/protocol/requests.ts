import * as v from 'valibot';
import { MAX_CHOICES } from '../batching/options/limits.ts';
import { answerPart } from './answers.ts';
import { finishReason, generationResult, logprobs, promptLogprobs } from './generation.ts';
import type { ClientId, RequestId } from './ids.ts';
import { servedModel } from './models.ts';
import { boundedList, count, duration, id, name, tokenIds, wireError, type Wire } from './wire.ts';

export const requestId = id<RequestId>();

const resumedChoice = v.object({
  /** All output tokens that the tab has received. */
  tokenIds,
  logprobs: v.exactOptional(logprobs),
  /** Left out if the prompt was not scored, or not yet. */
  promptLogprobs: v.exactOptional(promptLogprobs),
  /** Left out if the continuation has not ended. */
  finishReason: v.exactOptional(finishReason),
});
/** The part of one continuation that a lost worker generated. */
export type ResumedChoice = Wire<typeof resumedChoice>;

const resumption = v.object({
  /** In order of their index. Continuations without any update are left out at the end. */
  choices: boundedList(resumedChoice, MAX_CHOICES),
  /** The model that started the request. Another model starts it again. */
  model: v.exactOptional(servedModel),
  /** As the lost worker measured it. Left out if the request had not started. */
  queueWaitMs: v.exactOptional(duration),
  /** As the lost worker measured it. Left out if it sent no token. */
  ttftMs: v.exactOptional(duration),
  /** The lost worker had accepted the request, so the next one may not reject it because of a full queue. */
  isAccepted: v.exactOptional(v.literal(true)),
});
/** The progress of a request at a lost worker. */
export type Resumption = Wire<typeof resumption>;

export const submittedRequest = v.object({
  requestId,
  input: v.unknown(),
  options: v.unknown(),
  /** Its place among the inputs of one `remoteAll`, which its errors name. */
  place: v.exactOptional(count),
  /** Time from the submission until the request was sent to this worker, in ms on the tab's clock. */
  elapsedMs: duration,
  /** Left out at the request's first worker. */
  resumption: v.exactOptional(resumption),
});
/** One request as it goes to a worker. */
export type SubmittedRequest = Wire<typeof submittedRequest>;

export const caller = v.pipe(v.array(name), v.minLength(1), v.maxLength(3));
/**
 * The HTTP client as a path: its peer address, its key and its user. Each name is unique only within the one before it.
 *
 * @useDeclaredType
 */
export type Caller = Wire<typeof caller>;

/** Whose turn in the queue a request takes, and how much of it is read. */
export interface RequestTurn {
  /** The HTTP client. Dropped from messages of tabs: only the bridge may send it. */
  readonly caller?: Caller;
  /** Behind all other requests, to which it gives its slot. Dropped from messages of tabs, too. */
  readonly isBackground?: true;
  /** Nobody reads the text before its end: no chunk follows the first one, and no token is decoded before it is needed. */
  readonly updates?: 'end';
}

export interface TurnInfo extends RequestTurn {
  /** Submissions with the same ID share one turn. A submission without it has a turn of its own. */
  readonly turnId?: string;
}

export const requestUpdate = v.variant('type', [
  /** Prompt and options are valid, and the request waits in the queue. Text generator only. */
  v.object({ type: v.literal('accepted'), requestId }),
  /** The first tokens of the prompt are computed. */
  v.object({
    type: v.literal('started'),
    requestId,
    /** Time from arrival to the first step. */
    queueWaitMs: duration,
    /** The model that answers. */
    model: servedModel,
  }),
  /** `model` starts the request again, since another model had started it or a server cannot resume it. Earlier chunks are void. */
  v.object({
    type: v.literal('restarted'),
    requestId,
    /** The model that answers now. */
    model: servedModel,
  }),
  /**
   * The prompt, once for each continuation, before its first chunk. Sent when the request starts, or later with the prompt's
   * logprobs.
   */
  v.object({
    type: v.literal('echo'),
    requestId,
    /** Index of its continuation, from 0. */
    index: count,
    /** Empty unless the caller set `echo`. */
    text: v.string(),
    /** One entry per prompt token, if requested. */
    promptLogprobs: v.exactOptional(promptLogprobs),
  }),
  /** A piece of a continuation. */
  v.object({
    type: v.literal('chunk'),
    requestId,
    /** Index of its continuation, from 0. */
    index: count,
    /** Whole characters only. Empty while a character is incomplete or may be part of a stop string. */
    text: v.string(),
    /** The pieces of the answer that end in `text`: of a chat with tools, or with a model that may think before it answers. */
    parts: v.exactOptional(v.array(answerPart)),
    /** Tokens of `text`, or of an incomplete character. */
    tokenIds,
    /** One entry per entry of `tokenIds`, if `logprobs` is set. */
    logprobs: v.exactOptional(logprobs),
    /** Time from arrival to the first token. On the first chunk only. */
    ttftMs: v.exactOptional(duration),
    /** On the first chunk, if it is known by then. */
    numPromptTokens: v.exactOptional(count),
    /** Those of them that were taken over from another request, beside `numPromptTokens`. */
    numCachedTokens: v.exactOptional(count),
    /** On a continuation's last chunk only. */
    finishReason: v.exactOptional(finishReason),
  }),
  /** From the text generator. */
  v.object({
    type: v.literal('finished'),
    requestId,
    /** The value that `result()` resolves with. */
    result: generationResult,
  }),
  /** From a deployment other than the text generator. */
  v.object({
    type: v.literal('answered'),
    requestId,
    /** The value that `result()` resolves with. */
    result: v.unknown(),
  }),
  /** The request ended with an error, or was cancelled. */
  v.object({
    type: v.literal('failed'),
    requestId,
    /** The error that `result()` rejects with. */
    error: wireError,
  }),
]);
/**
 * A worker's update of one request. In order: accepted, started, echo if requested, chunk…, then finished, answered or failed.
 * If the worker is lost, the next one sends `started` again, then the chunks that follow those of the lost one.
 *
 * @useDeclaredType
 */
export type RequestUpdate = Wire<typeof requestUpdate>;

/** Each of these is the last update of its request. */
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
  /** That tab's number in `TabserveStatus.tabs`. Left out for an HTTP client and for the rows of jobs. */
  tab: v.exactOptional(count),
  /** Set if an HTTP client sent it through the bridge. */
  isHttp: v.exactOptional(v.literal(true)),
  /** The deployment's name. */
  deployment: name,
  /** The beginning of its input, as text. */
  inputPreview: v.string(),
  /** `finished`, `cancelled` and `failed` are final. */
  state: v.picklist(['waiting', 'running', 'finished', 'cancelled', 'failed']),
  /** Tokens so far. 0 for a deployment other than the text generator. */
  numOutputTokens: count,
  /** Why its first text ended, once it is finished. From the text generator. */
  finishReason: v.exactOptional(finishReason),
});
/**
 * One request as the other tabs see it.
 *
 * @interface
 */
export type RequestActivity = Wire<typeof requestActivity>;
