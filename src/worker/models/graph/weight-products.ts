import type { OnnxNodes } from './onnx-nodes.ts';

/** Products of activations and weights, in the operators that a device computes fast. */
export interface WeightProducts {
  /** [B, S, in] x [in, out] -> [B, S, out] */
  multiply(input: string, weight: string, output: string): void;
  /** [tokens, in] x the transpose of [out, in], plus the bias ('' for none) -> [tokens, out] */
  project(input: string, weight: string, output: string, bias: string): void;
}

export function tiledProducts(nodes: OnnxNodes): WeightProducts {
  return {
    multiply: (input, weight, output) => nodes.add('MatMul', [input, weight], [output]),
    project(input, weight, output, bias) {
      const inputs = bias === '' ? [input, weight] : [input, weight, bias];
      // Gemm reads the matrix as it lies, without a transposed copy.
      nodes.add('Gemm', inputs, [output], { transB: { int: 1 } });
    },
  };
}

/**
 * Products without barriers, for decode steps on a software adapter, which runs the threads of a workgroup one after the other
 * and pays for each at every barrier. `Einsum` (float32 only) computes each output in one thread. Measured on SwiftShader: a
 * step of one row takes a fifth of the time that tiles take, and steps of 8 and 16 rows take as long.
 */
export function untiledProducts(nodes: OnnxNodes): WeightProducts {
  const sum = (equation: string, inputs: string[], output: string): void =>
    nodes.add('Einsum', inputs, [output], { equation: { text: equation } });
  return {
    multiply: (input, weight, output) => sum('bsk,kn->bsn', [input, weight], output),
    project(input, weight, output, bias) {
      if (bias === '') return sum('tk,nk->tn', [input, weight], output);
      sum('tk,nk->tn', [input, weight], `${output}.product`);
      nodes.add('Add', [`${output}.product`, bias], [output]);
    },
  };
}
