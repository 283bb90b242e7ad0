const MASK_PREFIX = 'attention_mask_';

/**
 * Names of the graph's inputs and outputs; B = rows, S = tokens per row, C = KV capacity, L = tokens with logits. An encoder's tokens are
 * packed: its ids, positions and types are [1, T], those of each row behind those of the row before, without padding.
 */
export const GRAPH_IO = {
  /** int32 [B, S] */
  ids: 'input_ids',
  /** int32 [B, S]. Left out if no node reads it: fused attention derives rotary positions from the lengths. */
  positions: 'position_ids',
  /** int32 [B], for fused attention: valid K/V entries of the row after this run, minus one. */
  lastIndices: 'seqlens_k',
  /** int32 [B, S], for BERT: 1 for tokens of the second text of a pair, else 0. */
  types: 'token_type_ids',
  /** int32 [L]: the tokens whose logits come out, as indices among all B * S. */
  logitTokens: 'logit_tokens',
  /** int32 [1], on the CPU, for fused attention: at least the largest of the rows' valid lengths after this run. */
  totalLength: 'total_sequence_length',
  /** float32 [L, vocab] */
  logits: 'logits',
  /** int32 [B, S], for an encoder: the packed token at each place of a row. Any one where the row has ended. */
  rowTokens: 'row_tokens',
  /** int32 [1, T], for an encoder: the place of each packed token among all B * S. */
  tokenPlaces: 'token_places',
  /** float32 [1, B, T], for an encoder: each token's share of a row's vector. */
  shares: 'pooling_shares',
  /** float32 [B, dimensions], of an encoder: a vector or a score for each row. */
  encoded: 'encoded',
  /** [B, K/V heads, C, head size]: the cache before the run. State of a fixed size is [B, ...its shape]. */
  past: stateNames('past'),
  /** As `past`: the state after the run, in place where it is the same buffer. */
  present: stateNames('present'),
  /**
   * int32 [B, tokens]: what a convolution keeps of so many tokens of each row, as indices among three lists, one behind the other: the last
   * ones of each row if all were whole, [B * tokens]; those of the run, [B * S]; and zeros.
   */
  keptTokens: (numTokens: number) => `kept_tokens_${numTokens}`,
  /**
   * float32 [B, 1, S, S], for an encoder: added to the scores of a token's keys, in layers whose tokens attend to the latest `window` tokens.
   * [B, 1, 1, S] if all tokens attend to the same.
   */
  mask: (window: number) => `${MASK_PREFIX}${window}`,
} as const;

function stateNames(kind: string) {
  return {
    fixed: (layer: number): string => `${kind}_state_${layer}`,
    key: (layer: number): string => `${kind}_key_${layer}`,
    value: (layer: number): string => `${kind}_value_${layer}`,
  };
}
