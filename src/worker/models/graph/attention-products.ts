import type { OnnxNodes } from './onnx-nodes.ts';

/** The matrix products of attention, in the operators that a device computes fast. */
export interface AttentionProducts {
  /** Whether keys lie in the cache as [B, heads, head size, N]; if not, as [B, heads, N, head size]. */
  readonly hasTransposedKeys: boolean;
  /** Queries [B, heads, S, head size] x keys in the cache -> [B, heads, S, N] */
  scoreCached(queries: string, keys: string, output: string): void;
  /** [B, heads, S, M] x [B, heads, M, N] -> [B, heads, S, N] */
  multiply(left: string, right: string, output: string): void;
}

/**
 * Keys lie transposed on the CPU: a plain product of one row then reads its matrix as it lies, and one of many rows need not turn
 * it. `FusedMatMul` with `transB` or `alpha` takes three to four times as long (measured).
 */
export function productsOnCpu(nodes: OnnxNodes): AttentionProducts {
  const multiply: AttentionProducts['multiply'] = (left, right, output) =>
    nodes.add('MatMul', [left, right], [output]);
  return { hasTransposedKeys: true, scoreCached: multiply, multiply };
}

/**
 * A software adapter runs the threads of a workgroup one after the other and pays for each at every barrier. `Einsum`, fp32
 * only, is the product whose shader has none: one thread adds up one number.
 */
export function productsOnSoftwareGpu(nodes: OnnxNodes): AttentionProducts {
  const sum = (equation: string) => (left: string, right: string, output: string) =>
    nodes.add('Einsum', [left, right], [output], { equation: { text: equation } });
  return {
    hasTransposedKeys: false,
    scoreCached: sum('bhsd,bhnd->bhsn'),
    multiply: sum('bhsm,bhmn->bhsn'),
  };
}
