import type { OnnxNodes } from './onnx-nodes.ts';

/** The matrix products of attention, made of operators that are fast on a device. */
export interface AttentionProducts {
  /** Whether the cache holds keys as [B, heads, head size, N]; otherwise as [B, heads, N, head size]. */
  readonly hasTransposedKeys: boolean;
  /** Queries [B, heads, S, head size] x keys in the cache -> [B, heads, S, N] */
  scoreCached(queries: string, keys: string, output: string): void;
  /** [B, heads, S, M] x [B, heads, M, N] -> [B, heads, S, N] */
  multiply(left: string, right: string, output: string): void;
}

/**
 * The CPU stores keys transposed, so that `MatMul` reads them in memory order and never transposes them. `FusedMatMul` with
 * `transB` or `alpha` takes three to four times as long (measured).
 */
export function productsOnCpu(nodes: OnnxNodes): AttentionProducts {
  const multiply: AttentionProducts['multiply'] = (left, right, output) =>
    nodes.add('MatMul', [left, right], [output]);
  return { hasTransposedKeys: true, scoreCached: multiply, multiply };
}

/**
 * A software adapter runs the threads of a workgroup one after the other and pays for each at every barrier. `Einsum`, which is
 * fp32 only, is the product whose shader has no barrier: each thread sums one output.
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
