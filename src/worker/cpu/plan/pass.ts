import type { CpuStateRows } from '../memory/state-rows.ts';

/** Tokens of one row, or one text, in a pass: consecutive ones. */
export interface Span {
  /** The row of the state. */
  readonly row: number;
  /** The first of its tokens among those of the pass. */
  readonly start: number;
  readonly numTokens: number;
  /** The position of its first token. */
  readonly position: number;
}

/** Tokens that run through all operations together: those of all rows one behind the other, without padding. */
export interface Pass {
  readonly numTokens: number;
  readonly spans: readonly Span[];
  /** Tokens whose logits are wanted, in order. Those of the first go to `firstLogitRow`, and so on. */
  readonly logitTokens: readonly number[];
  readonly firstLogitRow: number;
  /** Keys and values of the tokens before. Undefined for whole texts, which attend to their own tokens alone. */
  readonly state: CpuStateRows | undefined;
}

/** One operation of a plan. It may stop between its parts, so that none takes long. */
export type Step = (pass: Pass) => Iterable<unknown> | void;
