import type { ModelConfig } from '../model-config.ts';
import type { AttentionProducts } from './attention-products.ts';
import { GRAPH_IO } from './graph-io.ts';
import type { GraphWeights } from './graph-weights.ts';
import type { OnnxNodes } from './onnx-nodes.ts';
import { ONNX_TYPE } from './onnx-proto.ts';

type HeadCounts = Pick<ModelConfig, 'numHeads' | 'numKvHeads' | 'headSize'>;

/** Outputs of the graph's nodes: [B, S, heads * head size], and twice [B, S, K/V heads * head size]. */
export interface SeparateQkv {
  readonly query: string;
  readonly key: string;
  readonly value: string;
}

/** A position behind all others, so that no token attends to it. */
const NOWHERE = 2 ** 30;

/**
 * Attention as matrix products, where `GroupQueryAttention` is slow: on the CPU it copies the whole cache in each run and takes
 * four times as long for a prompt; a software adapter takes ten times as long for 8 rows of 512 tokens. Here the cache is only
 * read: what is joined are the scores of its keys and of the new ones. On the CPU the price is some 20 µs a layer for its nodes,
 * which only a decode step of a tiny model and few short rows notices.
 */
export class PlainAttention {
  readonly #nodes: OnnxNodes;
  readonly #weights: GraphWeights;
  readonly #heads: HeadCounts;
  readonly #products: AttentionProducts;

  constructor(nodes: OnnxNodes, weights: GraphWeights, heads: HeadCounts, products: AttentionProducts) {
    this.#nodes = nodes;
    this.#weights = weights;
    this.#heads = heads;
    this.#products = products;
  }

  /**
   * @param output [B, S, heads * head size]
   * @param scale Factor of the scores.
   * @param window Latest tokens that a token attends to, itself included.
   */
  add(layer: number, inputs: SeparateQkv, output: string, scale: number, window?: number): void {
    const { numHeads, numKvHeads, headSize } = this.#heads;
    const nodes = this.#nodes;
    const name = (part: string): string => `${output}.${part}`;
    const mask = this.#maskOf(window);
    const key = this.#byHead(inputs.key, numKvHeads, name('k'));
    const value = this.#byHead(inputs.value, numKvHeads, name('v'));
    const query = this.#byHead(inputs.query, numHeads, name('q'));
    const groups = this.#regroup(query, numKvHeads, headSize, name('q_groups'));
    const scores = (keys: string, part: string): string =>
      this.#products.score(groups, keys, scale, name(part));
    nodes.add(
      'Concat',
      [scores(GRAPH_IO.past.key(layer), 'past_scores'), scores(key, 'new_scores')],
      [name('group_scores')],
      { axis: { int: -1 } },
    );
    const all = this.#regroup(name('group_scores'), numHeads, 0, name('scores'));
    nodes.add('Add', [all, mask], [name('masked')]);
    nodes.add('Softmax', [name('masked')], [name('shares')], { axis: { int: -1 } });
    const shares = this.#regroup(name('shares'), numKvHeads, 0, name('group_shares'));
    nodes.add('Split', [shares, 'cache_and_new'], [name('past_shares'), name('new_shares')], {
      axis: { int: -1 },
    });
    const contexts = [
      this.#products.weigh(name('past_shares'), GRAPH_IO.past.value(layer), name('past_context')),
      this.#products.weigh(name('new_shares'), value, name('new_context')),
    ];
    nodes.add('Add', contexts, [name('group_context')]);
    const context = this.#regroup(name('group_context'), numHeads, headSize, name('context'));
    nodes.add('Transpose', [context], [name('tokens')], { perm: { ints: [0, 2, 1, 3] } });
    nodes.add('Reshape', [name('tokens'), this.#weights.list(0, 0, numHeads * headSize)], [output]);
  }

  /** [B, S, heads * head size] -> [B, heads, S, head size] */
  #byHead(input: string, numHeads: number, output: string): string {
    const shape = this.#weights.list(0, 0, numHeads, this.#heads.headSize);
    this.#nodes.add('Reshape', [input, shape], [`${output}.by_token`]);
    this.#nodes.add('Transpose', [`${output}.by_token`], [output], { perm: { ints: [0, 2, 1, 3] } });
    return output;
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

  /** [B, 1, S, C + S], which layers with the same window share. */
  #maskOf(window: number | undefined): string {
    const mask = `attention_mask_${window ?? 'all'}`;
    this.#nodes.addOnce(mask, () => this.#addMask(mask, window));
    return mask;
  }

  #addMask(mask: string, window: number | undefined): void {
    const [nodes, weights] = [this.#nodes, this.#weights];
    const distances = 'key_distances';
    nodes.addOnce(distances, () => this.#addDistances(distances));
    let sees = `${mask}.is_not_later`;
    nodes.add('GreaterOrEqual', [distances, weights.scalar(0)], [sees]);
    if (window !== undefined) {
      nodes.add('Less', [distances, weights.scalar(window)], [`${mask}.is_near`]);
      nodes.add('And', [sees, `${mask}.is_near`], [`${mask}.sees`]);
      sees = `${mask}.sees`;
    }
    const seen = weights.constant('seen', Float32Array.of(0));
    const unseen = weights.constant('unseen', Float32Array.of(-3e38));
    nodes.add('Where', [sees, seen, unseen], [mask]);
  }

  /** int32 [B, 1, S, C + S]: how many positions a key is before a token. */
  #addDistances(distances: string): void {
    const nodes = this.#nodes;
    const { positions, ids, past } = GRAPH_IO;
    const dim = (input: string, axis: number, output: string): void =>
      nodes.add('Shape', [input], [output], { start: { int: axis }, end: { int: axis + 1 } });
    dim(past.key(0), 2, 'capacity');
    dim(ids, 1, 'num_new');
    nodes.add('Concat', ['capacity', 'num_new'], ['cache_and_new'], { axis: { int: 0 } });
    nodes.add('Squeeze', ['capacity'], ['capacity_scalar']);
    nodes.add('Cast', ['capacity_scalar'], ['capacity_int32'], { to: { int: ONNX_TYPE.int32 } });
    nodes.add(
      'Range',
      [this.#weights.scalar(0), 'capacity_int32', this.#weights.scalar(1)],
      ['cache_indices'],
    );
    // What a row has in the cache ends before its first new token.
    nodes.add('Gather', [positions, this.#weights.list(0)], ['first_positions'], { axis: { int: 1 } });
    nodes.add('Less', ['cache_indices', 'first_positions'], ['is_cached']);
    nodes.add('Where', ['is_cached', 'cache_indices', this.#weights.scalar(NOWHERE)], ['cache_positions']);
    nodes.add('Concat', ['cache_positions', positions], ['key_positions'], { axis: { int: 1 } });
    nodes.add('Unsqueeze', ['key_positions', this.#weights.list(1, 2)], ['key_positions_4d']);
    nodes.add('Unsqueeze', [positions, this.#weights.list(1, 3)], ['positions_4d']);
    nodes.add('Sub', ['positions_4d', 'key_positions_4d'], [distances]);
  }
}
