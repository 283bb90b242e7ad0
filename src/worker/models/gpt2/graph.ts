import { addActivation } from '../graph/activation.ts';
import { GRAPH_IO } from '../graph/graph-io.ts';
import { ModelGraph, type GraphTarget } from '../graph/model-graph.ts';
import type { Gpt2Config } from './config.ts';
import { HEAD, POSITION_EMBEDDING, TOKEN_EMBEDDING } from './tensors.ts';

/**
 * The residual stream is never added by a node of its own: each SkipLayerNormalization adds the last branch (and its
 * bias) to it, normalizes, and passes the sum on as its fourth output.
 */
export function buildGpt2Graph(config: Gpt2Config, target: GraphTarget): Uint8Array<ArrayBuffer> {
  const graph = new ModelGraph(config, target);
  const { nodes, weights } = graph;
  const addNorm = (name: string, branch: string, residual: string, bias: string): void =>
    nodes.addSkipNorm(name, { branch, residual, bias }, config.layerNormEpsilon);

  weights.lookUp(GRAPH_IO.ids, TOKEN_EMBEDDING, 'token_embedding');
  nodes.add('Gather', [POSITION_EMBEDDING, GRAPH_IO.positions], ['position_embedding']);
  addNorm('h.0.ln_1', 'token_embedding', 'position_embedding', '');
  for (let layer = 0; layer < config.numLayers; layer++) {
    const h = `h.${layer}`;
    const nextNorm = layer + 1 === config.numLayers ? 'ln_f' : `h.${layer + 1}.ln_1`;
    addAttention(graph, config, layer);
    addNorm(`${h}.ln_2`, `${h}.attn.c_proj`, `${h}.ln_1.sum`, `${h}.attn.c_proj.bias`);
    addMlp(graph, config, layer);
    addNorm(nextNorm, `${h}.mlp.c_proj`, `${h}.ln_2.sum`, `${h}.mlp.c_proj.bias`);
  }
  graph.addHead('ln_f', config.isHeadSeparate ? HEAD : TOKEN_EMBEDDING);
  return graph.encode();
}

function addAttention(graph: ModelGraph, { attentionScales }: Gpt2Config, layer: number): void {
  const attn = `h.${layer}.attn`;
  const qkv = `${attn}.c_attn`;
  graph.weights.multiply(`h.${layer}.ln_1`, `${qkv}.weight`, `${qkv}.product`);
  graph.nodes.add('Add', [`${qkv}.product`, `${qkv}.bias`], [qkv]);
  graph.addAttention(layer, qkv, attn, attentionScales[layer] ?? 1);
  graph.weights.multiply(attn, `${attn}.c_proj.weight`, `${attn}.c_proj`);
}

function addMlp({ nodes, weights }: ModelGraph, { activation }: Gpt2Config, layer: number): void {
  const mlp = `h.${layer}.mlp`;
  weights.multiply(`h.${layer}.ln_2`, `${mlp}.c_fc.weight`, `${mlp}.c_fc`);
  addActivation(nodes, activation, { input: `${mlp}.c_fc`, bias: `${mlp}.c_fc.bias`, output: `${mlp}.act` });
  weights.multiply(`${mlp}.act`, `${mlp}.c_proj.weight`, `${mlp}.c_proj`);
}
