import { addActivation } from '../graph/activation.ts';
import { GRAPH_IO } from '../graph/graph-io.ts';
import { ModelGraph, type GraphTarget } from '../graph/model-graph.ts';
import type { BertConfig } from './config.ts';
import { CLASSIFIER, FIRST_NORM, layerNames, POOLER, POSITIONS, TYPES, WORDS } from './tensors.ts';

/**
 * The forward pass of all tokens as rows of [B * S, width]; only attention sees which row of the batch they are in. Norms come
 * after the residual sum, so the normalized values are the residual stream.
 */
export function buildBertGraph(config: BertConfig, target: GraphTarget): Uint8Array<ArrayBuffer> {
  const graph = new ModelGraph(config, target);
  const { nodes } = graph;
  const addNorm = (name: string, branch: string, residual: string, bias: string): void =>
    nodes.addSkipNorm(name, { branch, residual, bias }, config.normEpsilon);

  const [words, places] = embed(graph, config);
  addNorm(FIRST_NORM, words, places, '');
  let stream = FIRST_NORM;
  for (let layer = 0; layer < config.numLayers; layer++) {
    const { output, outputNorm, outer, outerNorm } = layerNames(layer);
    addAttention(graph, config, layer, stream);
    addNorm(outputNorm, output, stream, `${output}.bias`);
    addMlp(graph, config, layer);
    addNorm(outerNorm, outer, outputNorm, `${outer}.bias`);
    stream = outerNorm;
  }
  if (config.encoder.task === 'embed') graph.addPooled(stream, config.width);
  else addScore(graph, config, stream);
  return graph.encode();
}

/** The embeddings of the words, and those of their positions and types, as rows. */
function embed(graph: ModelGraph, { width }: BertConfig): readonly [string, string] {
  const { nodes, weights } = graph;
  weights.lookUp(GRAPH_IO.ids, WORDS, 'words');
  nodes.add('Gather', [POSITIONS, GRAPH_IO.positions], ['positions']);
  nodes.add('Gather', [TYPES, GRAPH_IO.types], ['types']);
  nodes.add('Add', ['positions', 'types'], ['places']);
  graph.flatten('words', width, 'word_rows');
  graph.flatten('places', width, 'place_rows');
  return ['word_rows', 'place_rows'];
}

function addAttention(
  graph: ModelGraph,
  { width, headSize }: BertConfig,
  layer: number,
  stream: string,
): void {
  const { attention, qkv, output } = layerNames(layer);
  graph.weights.project(stream, `${qkv}.weight`, qkv, `${qkv}.bias`);
  graph.unflatten(qkv, `${qkv}.batch`);
  graph.addAttention(layer, `${qkv}.batch`, attention, 1 / Math.sqrt(headSize));
  graph.flatten(attention, width, `${attention}.rows`);
  graph.weights.project(`${attention}.rows`, `${output}.weight`, output);
}

function addMlp({ nodes, weights }: ModelGraph, { activation }: BertConfig, layer: number): void {
  const { outputNorm, inner, outer } = layerNames(layer);
  weights.project(outputNorm, `${inner}.weight`, inner);
  addActivation(nodes, activation, { input: inner, bias: `${inner}.bias`, output: `${inner}.act` });
  weights.project(`${inner}.act`, `${outer}.weight`, outer);
}

/** The score of a pair, from the hidden state of its first token. */
function addScore(graph: ModelGraph, { width }: BertConfig, stream: string): void {
  const { nodes, weights } = graph;
  const first = graph.narrow(graph.pool(stream, width));
  weights.project(first, `${POOLER}.weight`, POOLER, `${POOLER}.bias`);
  nodes.add('Tanh', [POOLER], [`${POOLER}.act`]);
  weights.project(`${POOLER}.act`, `${CLASSIFIER}.weight`, CLASSIFIER, `${CLASSIFIER}.bias`);
  graph.addEncoded(CLASSIFIER, 1);
}
