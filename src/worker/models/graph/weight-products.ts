import type { OnnxNodes } from './onnx-nodes.ts';

/** A matrix of weights. */
export interface WeightMatrix {
  readonly name: string;
  readonly numInputs: number;
  readonly numOutputs: number;
}

/** Products of activations and weights, in operators that are fast on a device. */
export interface WeightProducts {
  /** [B, S, in] x [in, out] -> [B, S, out] */
  multiply(input: string, matrix: WeightMatrix, output: string): void;
  /** [tokens, in] x the transpose of [out, in], plus the bias ('' for none) -> [tokens, out] */
  project(input: string, matrix: WeightMatrix, output: string, bias: string): void;
}

/** @param list Adds a list of int64 to the graph and returns its name. */
export type CreateProducts = (nodes: OnnxNodes, list: (...values: number[]) => string) => WeightProducts;

export const tiledProducts: CreateProducts = (nodes) => ({
  multiply: (input, { name }, output) => nodes.add('MatMul', [input, name], [output]),
  project(input, { name }, output, bias) {
    // Gemm reads the matrix as it lies, without a transposed copy.
    nodes.add('Gemm', withBias([input, name], bias), [output], { transB: { int: 1 } });
  },
});

/**
 * Only products of at most so many terms a sum, and at least so many outputs, leave the tiles. The others keep a cost that the rows
 * of a step share. Without these bounds one row would take a third of the time and 8 rows two thirds, so batching would gain two
 * times instead of four. A software adapter serves to look at batching; for speed there is WASM.
 */
const [MAX_TERMS, MIN_OUTPUTS] = [128, 512];

/** Two groups, each of which computes four outputs at once. */
const OUTPUT_MULTIPLE = 8;

/**
 * Products without barriers. A software adapter runs the threads of a workgroup one after the other and pays for each at every
 * barrier, so a tile takes as long for 1 row as for 8. Of the operators whose shader has no barrier, a convolution in groups is
 * the fastest: it multiplies four weights at once. Measured on SwiftShader with the embedded model, a step takes half of the
 * time for 1 row, 0.7 of it for 8 rows and 0.8 for 16.
 */
export const untiledProducts: CreateProducts = (nodes, list) => {
  const tiled = tiledProducts(nodes, list);

  /**
   * Each input is a pixel and each value a channel. onnxruntime lays channels last by itself, where the transposes cancel out.
   *
   * @param pixels Shape of the input, with the axes of an image: [.., 1, in].
   * @param kernel [out, in, 1, 1]
   * @returns The outputs: [.., 1, out].
   */
  const convolve = (input: string, pixels: string, kernel: string, output: string, bias: string): string => {
    const name = (part: string): string => `${output}.${part}`;
    nodes.add('Reshape', [input, pixels], [name('pixels')]);
    nodes.add('Transpose', [name('pixels')], [name('image')], { perm: { ints: [0, 3, 1, 2] } });
    // A single group would be computed in tiles. Both groups have all inputs, and half of the outputs each.
    nodes.add('Concat', [name('image'), name('image')], [name('groups')], { axis: { int: 1 } });
    nodes.add('Conv', withBias([name('groups'), kernel], bias), [name('outputs')], {
      group: { int: 2 },
      kernel_shape: { ints: [1, 1] },
    });
    nodes.add('Transpose', [name('outputs')], [name('columns')], { perm: { ints: [0, 2, 3, 1] } });
    return name('columns');
  };

  return {
    multiply(input, matrix, output) {
      if (isTiled(matrix)) return tiled.multiply(input, matrix, output);
      const { name, numInputs, numOutputs } = matrix;
      // onnxruntime transposes it once, when it loads the graph.
      nodes.add('Transpose', [name], [`${name}.rows`], { perm: { ints: [1, 0] } });
      nodes.add('Reshape', [`${name}.rows`, list(numOutputs, numInputs, 1, 1)], [`${name}.kernel`]);
      const columns = convolve(input, list(0, 0, 1, numInputs), `${name}.kernel`, output, '');
      nodes.add('Reshape', [columns, list(0, 0, numOutputs)], [output]);
    },
    project(input, matrix, output, bias) {
      if (isTiled(matrix)) return tiled.project(input, matrix, output, bias);
      const { name, numInputs, numOutputs } = matrix;
      nodes.add('Reshape', [name, list(numOutputs, numInputs, 1, 1)], [`${name}.kernel`]);
      const columns = convolve(input, list(0, 1, 1, numInputs), `${name}.kernel`, output, bias);
      nodes.add('Reshape', [columns, list(0, numOutputs)], [output]);
    },
  };
};

function isTiled({ numInputs, numOutputs }: WeightMatrix): boolean {
  return numInputs > MAX_TERMS || numOutputs < MIN_OUTPUTS || numOutputs % OUTPUT_MULTIPLE !== 0;
}

function withBias(inputs: string[], bias: string): string[] {
  return bias === '' ? inputs : [...inputs, bias];
}
