import type { FinishReason } from '../batching/generation/request.ts';
import type { Caller } from './requests.ts';

/** A request that has ended. The log holds neither prompts nor texts. */
export interface LoggedRequest {
  /** Counts up from 1 in the order in which requests ended. */
  readonly number: number;
  /** When it ended, ms since 1970. */
  readonly endedAtMs: number;
  /** The sender's number in `TabserveStatus.tabs`. Left out for an HTTP client and for the rows of jobs. */
  readonly tab?: number;
  /** The HTTP client that sent it: its address, and digests of its key and of its user, each empty without one. */
  readonly caller?: Caller;
  /** The deployment's name. */
  readonly deployment: string;
  /** Tokens that were read, those that were found in the cache included. Left out where they are not known. */
  readonly numPromptTokens?: number;
  /** Those of them that were found in the cache. */
  readonly numCachedTokens?: number;
  /** Tokens that were generated. */
  readonly numOutputTokens?: number;
  /** From its submission to its first step. Left out for a text that was not finished, and outside of the text generator. */
  readonly queueWaitMs?: number;
  /** From its submission to its end, also where a worker before this one has begun it. The load of a model that it waited for counts. */
  readonly durationMs: number;
  /** Why its first text ended. */
  readonly finishReason?: FinishReason;
  /** Why it failed; its code is `REQUEST_CANCELLED` if it was cancelled. */
  readonly error?: { readonly code: string; readonly message: string };
}

/** What the text generator did in 10 seconds. Those in which it did nothing are left out. */
export interface LogSlice {
  /** When it began, ms since 1970. */
  readonly startedAtMs: number;
  /** 10,000; less for the one that goes on. */
  readonly durationMs: number;
  /** Tokens that were generated. */
  readonly numOutputTokens: number;
  /** Steps of the engine. */
  readonly numSteps: number;
  /** Requests that waited, on average over its steps. */
  readonly meanWaiting: number;
  /** The most requests that waited. */
  readonly maxWaiting: number;
  /** The largest share of the reserved K/V memory that sequences filled, 0 to 1. */
  readonly maxKvShare: number;
  /** Tokens of prompts that were looked up among those of other sequences. */
  readonly numPrefixQueries: number;
  /** Tokens of them that were found, and not computed again. */
  readonly numPrefixHits: number;
}

/** What a worker has done for all tabs, HTTP clients and jobs. */
export interface WorkerLog {
  /** When the log began, ms since 1970: another worker begins another one. */
  readonly startedAtMs: number;
  /** For the next call, which then answers with what came since. */
  readonly cursor: string;
  /** Whether it has all that the log holds; otherwise only what came since the given cursor. */
  readonly isWhole: boolean;
  /** The last 1,000 requests that have ended, oldest first. */
  readonly requests: readonly LoggedRequest[];
  /** The last hour, oldest first. The first one replaces the last one of the answer before, which went on. */
  readonly slices: readonly LogSlice[];
}
