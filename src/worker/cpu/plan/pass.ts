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
  /** Tokens whose outputs are wanted, in order: they have logits, or are pooled. */
  readonly wantedTokens: readonly number[];
  /** Logits of the first wanted token go there, and so on. */
  readonly firstLogitRow: number;
  /** Keys and values of the tokens before. Undefined for whole texts, which attend to their own tokens alone. */
  readonly state: CpuStateRows | undefined;
}

/** One operation of a plan. It may stop between its parts, so that none takes long. */
export type Step = (pass: Pass) => Iterable<unknown> | void;

/** The wanted tokens of each span. `row` counts those before them. */
export function wantedOf({ spans, wantedTokens }: Pass) {
  let end = 0;
  return spans.map((span) => {
    const row = end;
    while ((wantedTokens[end] ?? Infinity) < span.start + span.numTokens) end += 1;
    return { span, row, tokens: wantedTokens.slice(row, end) };
  });
}
