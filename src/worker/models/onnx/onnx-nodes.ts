import type { OnnxNode } from './onnx-proto.ts';

type Attributes = OnnxNode['attributes'];

/** The nodes of a graph, in the order in which they are added. */
export class OnnxNodes {
  readonly #nodes: OnnxNode[] = [];
  /** Outputs that layers share. */
  readonly #shared = new Set<string>();

  get all(): readonly OnnxNode[] {
    return this.#nodes;
  }

  /** Whether a node reads this value. */
  reads(value: string): boolean {
    return this.#nodes.some(({ inputs }) => inputs.includes(value));
  }

  push(...nodes: readonly OnnxNode[]): void {
    this.#nodes.push(...nodes);
  }

  add(opType: string, inputs: string[], outputs: string[], attributes: Attributes = {}): void {
    this.#nodes.push({ opType, domain: '', inputs, outputs, attributes });
  }

  /** Adds nodes whose output all layers share. */
  addOnce(output: string, add: () => void): void {
    if (this.#shared.has(output)) return;
    this.#shared.add(output);
    add();
  }

  /** Adds one of ONNX Runtime's own operators. */
  addFused(opType: string, inputs: string[], outputs: string[], attributes: Attributes = {}): void {
    this.#nodes.push({ opType, domain: 'com.microsoft', inputs, outputs, attributes });
  }
}
