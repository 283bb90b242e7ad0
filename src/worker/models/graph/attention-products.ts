import type { GraphWeights } from './graph-weights.ts';
import type { OnnxNodes } from './onnx-nodes.ts';

/** The matrix products of attention, in the operators that a device computes fast. */
export interface AttentionProducts {
  /** [B, heads, S, head size] x [B, heads, N, head size] * scale -> [B, heads, S, N] */
  score(queries: string, keys: string, scale: number, output: string): string;
  /** [B, heads, S, N] x [B, heads, N, head size] -> [B, heads, S, head size] */
  weigh(shares: string, values: string, output: string): string;
}

/** The CPU has kernels for whole matrices. */
export function productsOnCpu(nodes: OnnxNodes): AttentionProducts {
  return {
    score(queries, keys, scale, output) {
      const attributes = { transB: { int: 1 }, alpha: { float: scale } };
      nodes.addFused('FusedMatMul', [queries, keys], [output], attributes);
      return output;
    },
    weigh(shares, values, output) {
      nodes.add('MatMul', [shares, values], [output]);
      return output;
    },
  };
}

/**
 * A software adapter runs the threads of a workgroup one after the other and pays for each at every barrier. `Einsum`, fp32
 * only, is the product whose shader has none: one thread adds up one number.
 */
export function productsOnSoftwareGpu(nodes: OnnxNodes, weights: GraphWeights): AttentionProducts {
  return {
    score(queries, keys, scale, output) {
      const scaled = `${queries}.scaled`;
      const factor = weights.constant(`scale_${scale}`, Float32Array.of(scale));
      nodes.addOnce(scaled, () => nodes.add('Mul', [queries, factor], [scaled]));
      nodes.add('Einsum', [scaled, keys], [output], { equation: { text: 'bhsd,bhnd->bhsn' } });
      return output;
    },
    weigh(shares, values, output) {
      nodes.add('Einsum', [shares, values], [output], { equation: { text: 'bhsn,bhnd->bhsd' } });
      return output;
    },
  };
}
