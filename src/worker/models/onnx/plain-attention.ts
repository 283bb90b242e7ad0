import type { Heads } from '../program/model-config.ts';
import { GRAPH_IO } from './graph-io.ts';
import type { GraphWeights } from './graph-weights.ts';
import type { OnnxNodes } from './onnx-nodes.ts';
import { ONNX_TYPE, type OnnxValue } from './onnx-proto.ts';

interface AttentionShape {
  readonly heads: Heads;
  /** Multiplies the scores. */
  readonly scale: number;
  /** Number of latest tokens that a token attends to, itself included; `Infinity` for all. */
  readonly window: number;
}

/**
 * Attention of each text over its own tokens as matrix products, for encoders, which keep no keys and values. Only attention has their
 * tokens in padded rows.
 */
export class PlainAttention {
  readonly #nodes: OnnxNodes;
  readonly #weights: GraphWeights;
  readonly #heads: Heads;
  readonly #windows = new Set<number>();

  constructor(nodes: OnnxNodes, weights: GraphWeights, heads: Heads) {
    this.#nodes = nodes;
    this.#weights = weights;
    this.#heads = heads;
  }

  /** The graph's inputs for attention. */
  get inputs(): readonly OnnxValue[] {
    return [
      { name: GRAPH_IO.rowTokens, type: 'int32', dims: ['B', 'S'] },
      { name: GRAPH_IO.tokenPlaces, type: 'int32', dims: [1, 'T'] },
      ...[...this.#windows].map((window): OnnxValue => ({
        name: GRAPH_IO.mask(window),
        type: 'float32',
        dims: ['B', 1, 'Q', 'N'],
      })),
    ];
  }

  /**
   * @param qkv Queries, keys and values of each packed token, side by side: [1, T, (heads + 2 * K/V heads) * head size].
   * @param output [1, T, heads * head size]
   */
  add(qkv: string, output: string, { heads, scale, window }: AttentionShape): void {
    const { numHeads, numKvHeads, headSize } = this.#heads;
    // Its inputs have their shape.
    if (heads.numHeads !== numHeads || heads.numKvHeads !== numKvHeads || heads.headSize !== headSize)
      throw new Error('Plain attention has the same heads in all layers');
    const nodes = this.#nodes;
    const name = (part: string): string => `${output}.${part}`;
    this.#windows.add(window);
    const width = (numHeads + 2 * numKvHeads) * headSize;
    const inRows = this.#arrange(qkv, width, GRAPH_IO.rowTokens, name('in_rows'));
    const { query, key, value } = this.#byHead(inRows, scale, name);
    const groups = this.#regroup(query, numKvHeads, headSize, name('q_groups'));
    nodes.add('MatMul', [groups, key], [name('group_scores')]);
    const all = this.#regroup(name('group_scores'), numHeads, 0, name('scores'));
    nodes.add('Add', [all, this.#maskOf(window)], [name('masked')]);
    nodes.add('Softmax', [name('masked')], [name('shares')], { axis: { int: -1 } });
    const shares = this.#regroup(name('shares'), numKvHeads, 0, name('group_shares'));
    nodes.add('MatMul', [shares, value], [name('group_context')]);
    const context = this.#regroup(name('group_context'), numHeads, headSize, name('context'));
    nodes.add('Transpose', [context], [name('tokens')], { perm: { ints: [0, 2, 1, 3] } });
    this.#arrange(name('tokens'), numHeads * headSize, GRAPH_IO.tokenPlaces, output);
  }

  /** Takes tokens of `width` values in the order of `indices`. Returns the output: the shape of `indices`, then `width`. */
  #arrange(input: string, width: number, indices: string, output: string): string {
    this.#nodes.add('Reshape', [input, this.#weights.list(-1, width)], [`${output}.all`]);
    this.#nodes.add('Gather', [`${output}.all`, indices], [output]);
    return output;
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
