import type { DeltaRule } from '../program/program.ts';
import type { GraphBuilder } from './graph-builder.ts';
import { GRAPH_IO } from './graph-io.ts';

interface DeltaRuleNames extends Pick<DeltaRule, 'weights' | 'heads'> {
  /** Names of queries, keys, values, decays and betas. */
  readonly inputs: readonly string[];
  readonly output: string;
}

/** Added to the squared length of queries and keys. */
const EPSILON = 1e-6;

/** Added to the gates of padding: their softplus and sigmoid are then 0, also in fp16. */
const CLOSED = -3e4;

/**
 * Linear attention, which updates the state in place where past and present are the same buffer. It computes in float32, as the state
 * is. Rows of unequal lengths may run together: with a decay and a beta of 0, padding leaves the state as it is.
 *
 * @returns The name of the output: [B, S, heads * value size].
 */
export function addDeltaRule(
  graph: GraphBuilder,
  { inputs, output, weights, heads }: DeltaRuleNames,
): string {
  const { nodes } = graph;
  const { numKeyHeads, numValueHeads, keySize, valueSize } = heads;
  const [query = '', key = '', value = '', decay = '', beta = ''] = inputs;
  const layer = graph.addState({ kind: 'row', shape: [numValueHeads, keySize, valueSize], isSum: true });
  const [past, present] = [GRAPH_IO.past.fixed(layer), GRAPH_IO.present.fixed(layer)];
  const gates = addGates(graph, output, [decay, beta], weights);
  const vectors = [addUnit(graph, query, heads), addUnit(graph, key, heads), addWide(graph, value)];
  const wide = `${output}.wide`;
  nodes.addFused('LinearAttention', [...vectors, past, ...gates], [wide, present], {
    q_num_heads: { int: numKeyHeads },
    kv_num_heads: { int: numValueHeads },
  });
  return graph.narrow(wide);
}

/** The logarithms of the decays, and the betas: [B, S, heads]. */
function addGates(
  graph: GraphBuilder,
  output: string,
  inputs: readonly [decay: string, beta: string],
  [rate, bias]: DeltaRule['weights'],
): readonly string[] {
  const { nodes } = graph;
  const [decay, beta] = inputs.map((input) => {
    graph.unflatten(input, `${input}.batch`);
    nodes.add('Add', [`${input}.batch`, addClosedPadding(graph)], [`${input}.open`]);
    return graph.widen(`${input}.open`);
  });
  const speed = `${rate.name}.speed`;
  nodes.add('Exp', [graph.widen(rate.name)], [`${speed}.negative`]);
  nodes.add('Neg', [`${speed}.negative`], [speed]);
  const gates = [`${output}.decays`, `${output}.betas`];
  nodes.addFused('LinearAttentionGate', [decay ?? '', graph.widen(bias.name), speed, beta ?? ''], gates);
  return gates;
}

/** Closes the gates of padding, and leaves others as they are: [B, S, 1]. All layers share it. */
function addClosedPadding(graph: GraphBuilder): string {
  const { nodes, weights } = graph;
  const closed = 'closed_padding';
  nodes.addOnce(closed, () => {
    nodes.add('Unsqueeze', [GRAPH_IO.lastIndices, weights.list(1)], [`${closed}.last`]);
    nodes.add('Greater', [GRAPH_IO.positions, `${closed}.last`], [`${closed}.is_padding`]);
    nodes.add('Unsqueeze', [`${closed}.is_padding`, weights.list(2)], [`${closed}.column`]);
    const gate = [
      weights.constant('closed', Float32Array.of(CLOSED)),
      weights.constant('open', Float32Array.of(0)),
    ];
    nodes.add('Where', [`${closed}.column`, ...gate], [closed]);
  });
  return closed;
}

/** Heads divided by their lengths: [B, S, heads * size]. */
function addUnit(graph: GraphBuilder, input: string, { keySize }: DeltaRule['heads']): string {
  const { nodes, weights } = graph;
  const heads = `${input}.heads`;
  graph.flatten(graph.widen(input), keySize, heads);
  // A norm divides by the root mean square, which is the length over the root of the size.
  const gains = new Float32Array(keySize).fill(1 / Math.sqrt(keySize));
  const gain = weights.wideConstant(`unit_${keySize}`, gains, keySize);
  nodes.add('SimplifiedLayerNormalization', [heads, gain], [`${heads}.unit`], {
    axis: { int: -1 },
    epsilon: { float: EPSILON / keySize },
  });
  graph.unflatten(`${heads}.unit`, `${input}.unit`);
  return `${input}.unit`;
}

function addWide(graph: GraphBuilder, input: string): string {
  graph.unflatten(graph.widen(input), `${input}.wide`);
  return `${input}.wide`;
}
