import type { Heads } from '../model-config.ts';
import { GRAPH_IO } from './graph-io.ts';
import type { GraphWeights } from './graph-weights.ts';
import type { OnnxNodes } from './onnx-nodes.ts';
import { ONNX_TYPE, type OnnxValue } from './onnx-proto.ts';

/** Terms of a sum that the CPU's kernel always takes at once. */
const MAX_TERMS = 128;

interface AttentionShape {
  readonly heads: Heads;
  /** Multiplies the scores. */
  readonly scale: number;
  /** Number of latest tokens that a token attends to, itself included; `Infinity` for all. */
  readonly window: number;
}

/** Whether a token's own key is apart from the others. See `PlainAttention`. */
export function hasOwnKeys({ numHeads, numKvHeads }: Heads): boolean {
  return numHeads > numKvHeads;
}

/**
 * Attention as matrix products, for the CPU. `GroupQueryAttention` copies the whole cache there in each run, and takes four times
 * as long for a prompt. `PlainAttention` only reads the cache: it joins the scores of cached and new keys instead. Its nodes cost
 * about 17 µs a layer, which matters only for steps of few short rows of a tiny model.
 *
 * The cache holds keys transposed, so that `MatMul` reads them in memory order and never transposes them. `FusedMatMul` with
 * `transB` or `alpha` takes three to four times as long (measured).
 *
 * onnxruntime fuses a `Mul`, or a `Transpose` of the last two axes, into the product that reads it, which is slower on the CPU. A
 * `Transpose` of other axes in between prevents that.
 *
 * A step reads cached values as they lie, and adds its own token's. A prefill joins those of its row with its own first, so that a
 * token's sum is one sum by position, wherever the chunks of the prompt begin and however much of it was cached. Kernels add up what is
 * left over of whole vectors after the others, so a prefill's scores are padded.
 *
 * Where query heads share keys, a token's own key comes last in all sums, of a prefill as of a step: so tokens that were generated have
 * the same sums when they are read again as part of a prompt. Where they don't, a step's products of a single query add in another
 * order anyway.
 *
 * Encoders have no cache: there each row attends to its own tokens, on GPUs as well. Only attention has their tokens in padded rows.
 */
export class PlainAttention {
  readonly #nodes: OnnxNodes;
  readonly #weights: GraphWeights;
  readonly #heads: Heads;
  readonly #hasCache: boolean;
  readonly #windows = new Set<number>();

  constructor(nodes: OnnxNodes, weights: GraphWeights, heads: Heads, kind: 'plain' | 'uncached') {
    this.#hasCache = kind === 'plain';
    this.#nodes = nodes;
    this.#weights = weights;
    this.#heads = heads;
  }

  /** The graph's inputs for attention, besides the cache. */
  get inputs(): readonly OnnxValue[] {
    const masks = [...this.#windows].map((window) => GRAPH_IO.mask(window));
    return [
      ...(this.#hasCache
        ? [
            { name: GRAPH_IO.keyCounts, type: 'int64', dims: ['N'] } as const,
            { name: GRAPH_IO.pastLength, type: 'int64', dims: [1] } as const,
            {
              name: GRAPH_IO.scorePadding,
              type: 'float32',
              dims: ['B', this.#heads.numKvHeads, 'G', 'Z'],
            } as const,
            ...(hasOwnKeys(this.#heads)
              ? [{ name: GRAPH_IO.ownKeys, type: 'float32', dims: ['G', 'S'] } as const]
              : []),
          ]
        : [
            { name: GRAPH_IO.rowTokens, type: 'int32', dims: ['B', 'S'] } as const,
            { name: GRAPH_IO.tokenPlaces, type: 'int32', dims: [1, 'T'] } as const,
          ]),
      ...masks.map((name) => ({ name, type: 'float32', dims: ['B', 1, 'Q', 'N'] }) as const),
    ];
  }

  /**
   * @param qkv Queries, keys and values of each token, side by side: [B, S, (heads + 2 * K/V heads) * head size]. Those of an encoder
   * are packed: [1, T, ..].
   * @param output [B, S, heads * head size]; of an encoder [1, T, ..]
   */
  add(layer: number, qkv: string, output: string, { heads, scale, window }: AttentionShape): void {
    const { numHeads, numKvHeads, headSize } = this.#heads;
    // Its inputs have their shape.
    if (heads.numHeads !== numHeads || heads.numKvHeads !== numKvHeads || heads.headSize !== headSize)
      throw new Error('Plain attention has the same heads in all layers');
    const nodes = this.#nodes;
    const name = (part: string): string => `${output}.${part}`;
    this.#windows.add(window);
    const width = (numHeads + 2 * numKvHeads) * headSize;
    const inRows = this.#hasCache ? qkv : this.#arrange(qkv, width, GRAPH_IO.rowTokens, name('in_rows'));
    const { query, key, value } = this.#byHead(inRows, scale, name);
    const groups = this.#regroup(query, numKvHeads, headSize, name('q_groups'));
    this.#multiplyByKeys(groups, key, name('new_scores'));
    if (this.#hasCache) this.#addOtherScores(layer, groups, name);
    const groupScores = name(this.#hasCache ? 'group_scores' : 'new_scores');
    const all = this.#regroup(groupScores, numHeads, 0, name('scores'));
    nodes.add('Add', [all, this.#maskOf(window)], [name('masked')]);
    nodes.add('Softmax', [name('masked')], [name('shares')], { axis: { int: -1 } });
    const shares = this.#regroup(name('shares'), numKvHeads, 0, name('group_shares'));
    if (this.#hasCache) this.#addContexts(layer, shares, value, name);
    else nodes.add('MatMul', [shares, value], [name('group_context')]);
    const context = this.#regroup(name('group_context'), numHeads, headSize, name('context'));
    nodes.add('Transpose', [context], [name('tokens')], { perm: { ints: [0, 2, 1, 3] } });
    if (this.#hasCache)
      nodes.add('Reshape', [name('tokens'), this.#weights.list(0, 0, numHeads * headSize)], [output]);
    else this.#arrange(name('tokens'), numHeads * headSize, GRAPH_IO.tokenPlaces, output);
  }

  /** Takes tokens of `width` values in the order of `indices`. Returns the output: the shape of `indices`, then `width`. */
  #arrange(input: string, width: number, indices: string, output: string): string {
    this.#nodes.add('Reshape', [input, this.#weights.list(-1, width)], [`${output}.all`]);
    this.#nodes.add('Gather', [`${output}.all`, indices], [output]);
    return output;
  }

  /**
   * Products of longer heads are sums of products: the CPU's kernel takes up to `MAX_TERMS` terms at once, and more where there are few
   * keys, so that sums would depend on their number.
   *
   * @param queries [B, K/V heads, G, head size]
   * @param keys [B, K/V heads, head size, N]
   */
  #multiplyByKeys(queries: string, keys: string, output: string): void {
    const nodes = this.#nodes;
    const { numKvHeads, headSize } = this.#heads;
    let numParts = Math.ceil(headSize / MAX_TERMS);
    while (headSize % numParts > 0) numParts += 1;
    if (numParts === 1) {
      nodes.add('MatMul', [queries, keys], [output]);
      return;
    }
    const size = headSize / numParts;
    const name = (part: string): string => `${output}.${part}`;
    nodes.add('Reshape', [queries, this.#weights.list(0, numKvHeads, -1, numParts, size)], [name('q')]);
    nodes.add('Transpose', [name('q')], [name('q_parts')], { perm: { ints: [0, 1, 3, 2, 4] } });
    nodes.add('Reshape', [keys, this.#weights.list(0, numKvHeads, numParts, size, -1)], [name('k_parts')]);
    nodes.add('MatMul', [name('q_parts'), name('k_parts')], [name('parts')]);
    nodes.add('ReduceSum', [name('parts'), this.#weights.list(2)], [output], { keepdims: { int: 0 } });
  }

  /** Those of the first keys, which the row has. */
  #firstOf(input: string, axis: number, output: string): string {
    const bounds = [this.#weights.list(0), GRAPH_IO.pastLength, this.#weights.list(axis)];
    this.#nodes.add('Slice', [input, ...bounds], [output]);
    return output;
  }

  /** Scores of cached keys, of the pass's, of none, and of each token's own. */
  #addOtherScores(layer: number, groups: string, name: (part: string) => string): void {
    const nodes = this.#nodes;
    this.#multiplyByKeys(groups, GRAPH_IO.past.key(layer), name('cache_scores'));
    const past = this.#firstOf(name('cache_scores'), 3, name('past_scores'));
    const scores = [past, name('new_scores'), GRAPH_IO.scorePadding];
    if (hasOwnKeys(this.#heads)) {
      nodes.add('Mul', [name('new_scores'), GRAPH_IO.ownKeys], [name('own_score_rows')]);
      nodes.add('ReduceSum', [name('own_score_rows'), this.#weights.list(-1)], [name('own_scores')]);
      scores.push(name('own_scores'));
    }
    nodes.add('Concat', scores, [name('group_scores')], { axis: { int: -1 } });
  }

  /** Sums up values by their shares: cached ones, those of the sequence, and each token's own. */
  #addContexts(layer: number, shares: string, value: string, name: (part: string) => string): void {
    const nodes = this.#nodes;
    const hasOwn = hasOwnKeys(this.#heads);
    const parts = ['past', 'new', 'no', ...(hasOwn ? ['own'] : [])].map((part) => name(`${part}_shares`));
    nodes.add('Split', [shares, GRAPH_IO.keyCounts], parts, { axis: { int: -1 } });
    nodes.add('MatMul', [name('past_shares'), GRAPH_IO.past.value(layer)], [name('past_context')]);
    const prefix = this.#firstOf(GRAPH_IO.prefixValue(layer), 2, name('prefix'));
    nodes.add('Concat', [prefix, value], [name('values')], { axis: { int: 2 } });
    nodes.add('MatMul', [name('new_shares'), name('values')], [name('new_context')]);
    const sum = name(hasOwn ? 'other_context' : 'group_context');
    nodes.add('Add', [name('past_context'), name('new_context')], [sum]);
    if (!hasOwn) return;
    nodes.add('Mul', [name('own_shares'), GRAPH_IO.ownKeys], [name('own_share_rows')]);
    nodes.add('MatMul', [name('own_share_rows'), value], [name('own_context')]);
    nodes.add('Add', [sum, name('own_context')], [name('group_context')]);
  }

  /** The mask in the precision of the scores. */
  #maskOf(window: number): string {
    const mask = GRAPH_IO.mask(window);
    if (this.#weights.precision === 'float32') return mask;
    const narrow = `${mask}_narrow`;
    this.#nodes.addOnce(narrow, () =>
      this.#nodes.add('Cast', [mask], [narrow], { to: { int: ONNX_TYPE.float16 } }),
    );
    return narrow;
  }

  /** Scaled queries: [B, heads, S, head size]. Keys: [B, K/V heads, head size, S]. Values: [B, K/V heads, S, head size]. */
  #byHead(qkv: string, scale: number, name: (part: string) => string) {
    const { numHeads, numKvHeads, headSize } = this.#heads;
    const nodes = this.#nodes;
    const byToken = [name('q_by_token'), name('k_by_token'), name('v_by_token')];
    nodes.add(
      'Reshape',
      [qkv, this.#weights.list(0, 0, numHeads + 2 * numKvHeads, headSize)],
      [name('by_token')],
    );
    nodes.add('Split', [name('by_token'), this.#weights.list(numHeads, numKvHeads, numKvHeads)], byToken, {
      axis: { int: 2 },
    });
    const factor = this.#weights.constant(`scale_${scale}`, Float32Array.of(scale));
    nodes.add('Mul', [name('q_by_token'), factor], [name('q_scaled')]);
    const heads = { query: name('q'), key: name('k'), value: name('v') };
    nodes.add('Transpose', [name('q_scaled')], [heads.query], { perm: { ints: [0, 2, 1, 3] } });
    nodes.add('Transpose', [name('k_by_token')], [heads.key], { perm: { ints: [0, 2, 3, 1] } });
    nodes.add('Transpose', [name('v_by_token')], [heads.value], { perm: { ints: [0, 2, 1, 3] } });
    return heads;
  }

  /**
   * [B, heads, S, N] -> [B, K/V heads, heads of each * S, N], or back, by the number of heads that comes out.
   *
   * @param length N; 0 for that of the input.
   */
  #regroup(input: string, numHeads: number, length: number, output: string): string {
    if (this.#heads.numHeads === this.#heads.numKvHeads) return input;
    this.#nodes.add('Reshape', [input, this.#weights.list(0, numHeads, -1, length)], [output]);
    return output;
  }
}
