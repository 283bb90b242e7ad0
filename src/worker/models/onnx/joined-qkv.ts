import type { Heads } from '../program/model-config.ts';
import { GRAPH_IO } from './graph-io.ts';
import type { GraphWeights } from './graph-weights.ts';
import type { OnnxNodes } from './onnx-nodes.ts';
import { ONNX_TYPE } from './onnx-proto.ts';

/** Outputs of the graph's nodes: [B, S, heads * head size], and twice [B, S, K/V heads * head size]. */
export interface SeparateQkv {
  readonly query: string;
  readonly key: string;
  readonly value: string;
}

/** Initializers of [positions, pairs]: the cosine and sine of the angle by which each pair of a head's values turns. */
export interface RotaryTables {
  /** Pairs of a head, whose first values turn. */
  readonly numPairs: number;
  readonly cos: string;
  readonly sin: string;
}

export interface RotatedHeads {
  readonly heads: Heads;
  /** Turns queries and keys by their positions. */
  readonly rotary: RotaryTables | undefined;
}

/** Queries, keys and values for `PlainAttention`. */
export class JoinedQkv {
  readonly #nodes: OnnxNodes;
  readonly #weights: GraphWeights;

  constructor(nodes: OnnxNodes, weights: GraphWeights) {
    this.#nodes = nodes;
    this.#weights = weights;
  }

  /**
   * Returns queries, keys and values side by side. Queries and keys are rotated, as attention reads them and the cache keeps them.
   */
  add(
    qkv: string | SeparateQkv,
    name: string,
    { heads: { numHeads, numKvHeads, headSize }, rotary }: RotatedHeads,
  ): string {
    if (typeof qkv === 'string' && !rotary) return qkv;
    const sizes = [(numHeads + numKvHeads) * headSize, numKvHeads * headSize] as const;
    const [queriesAndKeys, joined, values] = [`${name}.query_and_key`, `${name}.qkv`, `${name}.value`];
    const value = typeof qkv === 'string' ? values : qkv.value;
    if (typeof qkv === 'string') {
      this.#nodes.add('Split', [qkv, this.#weights.list(...sizes)], [queriesAndKeys, value], {
        axis: { int: -1 },
      });
    } else {
      this.#nodes.add('Concat', [qkv.query, qkv.key], [queriesAndKeys], { axis: { int: -1 } });
    }
    const rotated = rotary ? this.#rotate(queriesAndKeys, sizes[0], rotary, headSize) : queriesAndKeys;
    this.#nodes.add('Concat', [rotated, value], [joined], { axis: { int: -1 } });
    return joined;
  }

  /** The operator takes no row that is longer than the tables, as packed tokens may be: each of those is a row of its own. */
  #rotate(heads: string, width: number, { cos, sin, numPairs }: RotaryTables, headSize: number): string {
    const [nodes, weights] = [this.#nodes, this.#weights];
    const [positions, rotated] = ['rotary_positions', `${heads}.rotated`];
    nodes.addOnce(positions, () =>
      nodes.add('Cast', [GRAPH_IO.positions], [positions], { to: { int: ONNX_TYPE.int64 } }),
    );
    const [column, each] = [`${positions}.column`, `${heads}.each`];
    nodes.addOnce(column, () => nodes.add('Reshape', [positions, weights.list(-1, 1)], [column]));
    nodes.add('Reshape', [heads, weights.list(-1, 1, width)], [each]);
    const isPart = 2 * numPairs < headSize;
    nodes.addFused('RotaryEmbedding', [each, column, cos, sin], [`${each}.rotated`], {
      ...(isPart && { num_heads: { int: width / headSize }, rotary_embedding_dim: { int: 2 * numPairs } }),
    });
    nodes.add('Reshape', [`${each}.rotated`, weights.list(1, -1, width)], [rotated]);
    return rotated;
  }
}
