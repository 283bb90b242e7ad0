import { logitTokensOf, type ForwardInput } from '../runtime/model-backend.ts';
import type { Pass, Span } from './plan/pass.ts';
import type { TokenInputs } from './plan/cpu-plan.ts';
import type { CpuStateRows } from './memory/state-rows.ts';

/** The tokens of a forward pass without padding, those of a row behind those of the row before. */
export interface PackedTokens {
  readonly ids: Int32Array;
  readonly positions: Int32Array;
  readonly spans: readonly Span[];
  /** The tokens whose logits are wanted: each once, in order. */
  readonly logitTokens: readonly number[];
  /** The places of the logits that the input asks for among `logitTokens`. */
  readonly logitRows: readonly number[];
}

/**
 * @param ids The input's, or the tokens that were sampled.
 * @throws RangeError where logits of padding are asked for: the packed tokens lack it.
 */
export function packTokens(input: ForwardInput, ids: Int32Array): PackedTokens {
  const { numRows, tokensPerRow, positions, lastIndices } = input;
  const spans: Span[] = [];
  let numTokens = 0;
  for (let row = 0; row < numRows; row++) {
    const position = positions[row * tokensPerRow] ?? 0;
    const length = (lastIndices[row] ?? 0) + 1 - position;
    spans.push({ row, start: numTokens, numTokens: length, position });
    numTokens += length;
  }
  const packed = (values: Int32Array): Int32Array => {
    const target = new Int32Array(numTokens);
    for (const { row, start, numTokens: length } of spans)
      target.set(values.subarray(row * tokensPerRow, row * tokensPerRow + length), start);
    return target;
  };
  const wanted = Array.from(logitTokensOf(input), (token) => {
    const index = token % tokensPerRow;
    const { start = 0, numTokens: length = 0 } = spans[Math.floor(token / tokensPerRow)] ?? {};
    if (index >= length) throw new RangeError(`Token ${token} is padding, which has no logits`);
    return start + index;
  });
  const logitTokens = [...new Set(wanted)].toSorted((a, b) => a - b);
  const rowOf = new Map(logitTokens.map((token, row) => [token, row]));
  return {
    ids: packed(ids),
    positions: packed(positions),
    spans,
    logitTokens,
    logitRows: wanted.map((token) => rowOf.get(token) ?? 0),
  };
}

/** Passes of at most `maxTokens` that compute the same: each token sees those before it in the state. */
export function* passesOf(
  { ids, positions, spans, logitTokens }: PackedTokens,
  maxTokens: number,
  state: CpuStateRows,
): Generator<{ readonly pass: Pass; readonly inputs: TokenInputs }> {
  let firstLogitRow = 0;
  for (let first = 0; first < ids.length; first += maxTokens) {
    const end = Math.min(ids.length, first + maxTokens);
    const wanted = logitTokens.filter((token) => token >= first && token < end).map((token) => token - first);
    yield {
      pass: {
        numTokens: end - first,
        spans: spans.flatMap((span) => cut(span, first, end)),
        wantedTokens: wanted,
        firstLogitRow,
        state,
      },
      inputs: { ids: ids.subarray(first, end), positions: positions.subarray(first, end) },
    };
    firstLogitRow += wanted.length;
  }
}

/** The tokens of a span from `first` to `end`. */
function cut({ row, start, numTokens, position }: Span, first: number, end: number): readonly Span[] {
  const from = Math.max(start, first);
  const length = Math.min(start + numTokens, end) - from;
  return length > 0
    ? [{ row, start: from - first, numTokens: length, position: position + from - start }]
    : [];
}
