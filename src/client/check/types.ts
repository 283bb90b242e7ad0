import type { RequestId } from '../../protocol/ids.ts';
import type { BackendInfo } from '../../protocol/models.ts';

/**
 * What a line of a check shows. `together`: nine prompts in one batch have the same texts as one by one. `handover`: the same texts,
 * where the worker ends in the middle and another one takes over. `shapes`: each answer of a batch fits its JSON Schema. `values`: each
 * backend computes the known values of a tiny model. `tokens`: both backends choose the same 32 likeliest tokens.
 */
export type CheckName = 'together' | 'handover' | 'shapes' | 'values' | 'tokens';

/** `waiting` and `running` until the line is done; `not-run` where it can't be, or the check was stopped before it. */
export type CheckOutcome = 'waiting' | 'running' | 'right' | 'wrong' | 'not-run';

/** One thing that a check shows. */
export interface CheckLine {
  /** What it shows. */
  readonly name: CheckName;
  /** The same in words, to be shown. */
  readonly title: string;
  /** How far it is, or how it ended. */
  readonly outcome: CheckOutcome;
  /** What was found, or why it was not run, in a sentence. Empty until then. */
  readonly detail: string;
}

/** The speed of one batch size. */
export interface CheckedRate {
  /** Texts that ran together. */
  readonly numTexts: number;
  /** Tokens of all of them together in a second: by the median of the steps in which exactly so many ran. */
  readonly tokensPerSecond: number;
}

/** What a check has measured on one backend. */
export interface CheckedBackend extends Pick<BackendInfo, 'name' | 'rung' | 'precision' | 'adapter'> {
  /** At 1, 4, 8 and 16 texts. A size that memory or other tabs' texts did not let run is left out. */
  readonly rates: readonly CheckedRate[];
  /** The longest time between two tokens of eight texts while a prompt of about 256 tokens was read, in ms. */
  readonly longestPauseMs?: number;
  /** How fast one thread of the CPU reads memory, in bytes a second. Of the CPU alone. */
  readonly bytesPerSecond?: number;
}

/** The results of a check. Nothing in it tells who ran it, or on which texts. */
export interface CheckReport {
  /** All of it as plain text, to be read or pasted. */
  readonly text: string;
  /** Its first line: how many lines are right, and what eight texts together gain. */
  readonly summary: string;
  /** Whether no line waits or runs any more. */
  readonly isOver: boolean;
  /** Five lines, always in this order: `together`, `handover`, `shapes`, `values`, `tokens`. */
  readonly lines: readonly CheckLine[];
  /** The running worker's, then the other one's if it could be measured. */
  readonly backends: readonly CheckedBackend[];
  /** What the check does now, in words; empty while a line runs, which says it itself, and at the end. */
  readonly step: string;
  /** As the browser names itself. */
  readonly userAgent: string;
  /** Cores that the browser reports. */
  readonly numCores: number;
  /** The model without its name, which may be one of your files. */
  readonly model: {
    /** Number of weights. */
    readonly numParameters: number;
    /** Number of decoder layers. */
    readonly numLayers: number;
  };
  /** Counts the versions of Tabserve's messages. */
  readonly protocolVersion: number;
}

/** Options of `check`. */
export interface CheckOptions {
  /** Stops the check when it aborts. Lines that are not done are then `not-run`. */
  readonly signal?: AbortSignal | undefined;
  /** Gets the report each time that it changes, from the beginning on. */
  readonly onProgress?: ((report: CheckReport) => void) | undefined;
  /** Gets the ID of each request to the running worker, for a page that keeps them apart from those of its user. */
  readonly onRequest?: ((requestId: RequestId) => void) | undefined;
}
