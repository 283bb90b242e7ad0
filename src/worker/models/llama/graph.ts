import { addActivation } from '../graph/activation.ts';
import { GRAPH_IO } from '../graph/graph-io.ts';
import { ModelGraph, type GraphTarget, type RotaryTables } from '../graph/model-graph.ts';
import type { LlamaConfig } from './config.ts';
import { rotaryTables, type Rope } from './rope.ts';
import { EMBEDDING, FINAL_NORM, HEAD, layerNames } from './tensors.ts';

/** Builds the forward pass of all tokens as rows of [B * S, width]; only attention sees which row of the batch they are in. */
export function buildLlamaGraph(config: LlamaConfig, target: GraphTarget): Uint8Array<ArrayBuffer> {
  return new LlamaGraph(config, target).build();
}

class LlamaGraph {
  readonly #config: LlamaConfig;
  readonly #graph: ModelGraph;
  readonly #contextLength: number;
  readonly #tables = new Map<Rope, RotaryTables>();

  constructor(config: LlamaConfig, target: GraphTarget) {
    this.#config = config;
    this.#graph = new ModelGraph(config, target);
    this.#contextLength = target.contextLength;
  }

  build(): Uint8Array<ArrayBuffer> {
    const { numLayers, isHeadSeparate } = this.#config;
    let stream = { branch: '', residual: this.#embed() };
    for (let layer = 0; layer < numLayers; layer++) {
      const { inputNorm } = layerNames(layer);
      const residual = this.#norm(inputNorm, stream);
      stream = this.#addMlp(layer, { branch: this.#addAttention(layer), residual });
    }
    this.#norm(FINAL_NORM, stream);
    this.#graph.addHead(FINAL_NORM, isHeadSeparate ? HEAD : EMBEDDING);
    return this.#graph.encode();
  }

  #embed(): string {
    const { width, embeddingScale } = this.#config;
    const { nodes, weights } = this.#graph;
    const scale =
      embeddingScale === 1 ? '' : weights.constant('embedding_scale', Float32Array.of(embeddingScale));
    weights.lookUp(GRAPH_IO.ids, EMBEDDING, 'embedding');
    this.#graph.flatten('embedding', width, 'embedding_rows');
    if (scale === '') return 'embedding_rows';
    nodes.add('Mul', ['embedding_rows', scale], ['embedding_scaled']);
    return 'embedding_scaled';
  }

  /** @returns The branch that attention adds to the residual stream. */
  #addAttention(layer: number): string {
    const { norms, biases, attentionScale, numHeads, headSize } = this.#config;
    const graph = this.#graph;
    const names = layerNames(layer);
    const qkv = norms.ofHeads ? this.#addNormedQkv(layer) : this.#addJoinedQkv(layer);
    graph.addAttention(layer, qkv, names.attention, attentionScale, this.#variantOf(layer));
    const rows = `${names.attention}.rows`;
    graph.flatten(names.attention, numHeads * headSize, rows);
    this.#project(rows, names.output, biases.output);
    return norms.ofBranches ? this.#normBranch(names.postAttentionNorm, names.output) : names.output;
  }

  #addJoinedQkv(layer: number): string {
    const { inputNorm, qkv } = layerNames(layer);
    this.#project(inputNorm, qkv, this.#config.biases.qkv);
    this.#graph.unflatten(qkv, `${qkv}.batch`);
    return `${qkv}.batch`;
  }

  #addNormedQkv(layer: number) {
    const { q, k, v, queryNorm, keyNorm } = layerNames(layer);
    return {
      query: this.#addHeads(layer, q, queryNorm),
      key: this.#addHeads(layer, k, keyNorm),
      value: this.#addHeads(layer, v),
    };
  }

  #addHeads(layer: number, name: string, norm?: string): string {
    const { biases, headSize } = this.#config;
    const graph = this.#graph;
    this.#project(layerNames(layer).inputNorm, name, biases.qkv);
    if (norm !== undefined) {
      graph.flatten(name, headSize, `${name}.heads`);
      this.#rmsNorm(norm, `${name}.heads`);
    }
    graph.unflatten(norm ?? name, `${name}.batch`);
    return `${name}.batch`;
  }

  /** @returns The residual stream, and the branch that the next norm adds to it. */
  #addMlp(layer: number, stream: { readonly branch: string; readonly residual: string }) {
    const { norms, biases, activation } = this.#config;
    const { nodes } = this.#graph;
    const { postAttentionNorm, preMlpNorm, postMlpNorm, gate, up, down } = layerNames(layer);
    const norm = norms.ofBranches ? preMlpNorm : postAttentionNorm;
    const residual = this.#norm(norm, stream);
    this.#project(norm, gate, biases.mlp);
    this.#project(norm, up, biases.mlp);
    addActivation(nodes, activation, { input: gate, bias: '', output: `${gate}.act` });
    nodes.add('Mul', [`${gate}.act`, up], [`${up}.gated`]);
    this.#project(`${up}.gated`, down, biases.mlp);
    return { branch: norms.ofBranches ? this.#normBranch(postMlpNorm, down) : down, residual };
  }

  #project(input: string, name: string, hasBias: boolean): void {
    this.#graph.weights.project(input, `${name}.weight`, name, hasBias ? `${name}.bias` : '');
  }

  /** @returns The residual stream with the branch added. */
  #norm(name: string, { branch, residual }: { readonly branch: string; readonly residual: string }): string {
    if (branch === '') {
      this.#rmsNorm(name, residual);
      return residual;
    }
    const gain = this.#gainOf(name);
    this.#graph.nodes.addSkipRmsNorm(name, { branch, residual, gain }, this.#config.normEpsilon);
    return `${name}.sum`;
  }

  #normBranch(name: string, branch: string): string {
    this.#rmsNorm(name, branch);
    return name;
  }

  #rmsNorm(name: string, input: string): void {
    this.#graph.nodes.addRmsNorm(name, input, this.#gainOf(name), this.#config.normEpsilon);
  }

  /** onnxruntime adds constants once, when it creates the session. */
  #gainOf(norm: string): string {
    const weight = `${norm}.weight`;
    if (!this.#config.norms.isGainOffset) return weight;
    const one = this.#graph.weights.constant('one', Float32Array.of(1));
    this.#graph.nodes.add('Add', [weight, one], [`${norm}.gain`]);
    return `${norm}.gain`;
  }

  /** Leaves out a window that is as long as the longest sequence, because WebGPU has faster kernels without one. */
  #variantOf(layer: number): { readonly rotary?: RotaryTables; readonly window?: number } {
    const { rope, window } = this.#config.layers[layer] ?? {};
    return {
      ...(rope && { rotary: this.#tablesOf(rope) }),
      ...(window !== undefined && window < this.#contextLength && { window }),
    };
  }

  #tablesOf(rope: Rope): RotaryTables {
    const made = this.#tables.get(rope);
    if (made) return made;
    const dims = [this.#contextLength, rope.frequencies.length];
    const { cos, sin } = rotaryTables(rope, this.#contextLength);
    const name = `rotary_${this.#tables.size}`;
    const tables = {
      cos: this.#graph.weights.constant(`${name}_cos`, cos, ...dims),
      sin: this.#graph.weights.constant(`${name}_sin`, sin, ...dims),
    };
    this.#tables.set(rope, tables);
    return tables;
  }
}
