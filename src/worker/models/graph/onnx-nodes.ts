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

  /** Adds a branch and its bias ('' for none) to the residual stream, which becomes `${name}.sum`, and normalizes it. */
  addSkipNorm(
    name: string,
    { branch, residual, bias }: { readonly branch: string; readonly residual: string; readonly bias: string },
    epsilon: number,
  ): void {
    const inputs = [branch, residual, `${name}.weight`, `${name}.bias`, bias];
    this.#addSkip('SkipLayerNormalization', name, inputs, epsilon);
  }

  /** Divides each row by its root mean square and multiplies it by the gain. */
  addRmsNorm(name: string, input: string, gain: string, epsilon: number): void {
    this.add('SimplifiedLayerNormalization', [input, gain], [name], {
      axis: { int: -1 },
      epsilon: { float: epsilon },
    });
  }

  /** Adds a branch to the residual stream, which becomes `${name}.sum`, and normalizes it as `addRmsNorm` does. */
  addSkipRmsNorm(
    name: string,
    { branch, residual, gain }: { readonly branch: string; readonly residual: string; readonly gain: string },
    epsilon: number,
  ): void {
    this.#addSkip('SkipSimplifiedLayerNormalization', name, [branch, residual, gain], epsilon);
  }

  #addSkip(opType: string, name: string, inputs: string[], epsilon: number): void {
    this.addFused(opType, inputs, [name, '', '', `${name}.sum`], { epsilon: { float: epsilon } });
  }
}
