import { QUANTIZED_BLOCK, type MatrixLayout } from './product-shader.ts';
import type { NamedDispatch } from './named-dispatch.ts';

/** A product as onnxruntime-web computes it. */
export interface OrtProduct {
  readonly at: number;
  /** The name of its input. */
  readonly input: string;
  /** The matrix, and for blocks their scales and zero points. */
  readonly weights: readonly GPUBuffer[];
  readonly bias: GPUBuffer | undefined;
  readonly layout: MatrixLayout;
  readonly numRows: number;
  readonly numInputs: number;
  readonly numOutputs: number;
  readonly type: 'f16' | 'f32';
}

const PROGRAMS: readonly string[] = ['Gemm', 'MatMul', 'MatMulNBits', 'MatMulNBitsWideTile'];

/** Undefined for what is no product, and for one that `productShader` has no form for. */
export function ortProductOf(
  { program, code, reads, uniforms }: NamedDispatch,
  at: number,
): OrtProduct | undefined {
  // Several dispatches share the sums of one product, and another one has begun them with the bias.
  if (!PROGRAMS.includes(program) || code.includes('> output: array<atomic')) return undefined;
  const input = reads.has('a') ? 'a' : 'input_a';
  const type = new RegExp(`> ${input}: array<vec4<(f16|f32)>>`).exec(code)?.[1];
  const buffers = (...names: string[]) => names.map((name) => reads.get(name)?.buffer);
  const weights = buffers('b', 'input_b', 'scales', 'scales_b', 'zero_points').filter((buffer) => !!buffer);
  const layout = layoutOf(code);
  const numRows = uniforms.get('M') ?? uniforms.get('dim_a_outer') ?? Infinity;
  const numInputs = uniforms.get('dim_inner') ?? 4 * (uniforms.get('K_of_a') ?? 0);
  const numOutputs = uniforms.get('dim_b_outer') ?? uniforms.get('N') ?? 0;
  if ((type !== 'f16' && type !== 'f32') || !layout) return undefined;
  const [numWeights, block] = typeof layout === 'number' ? [3, QUANTIZED_BLOCK] : [1, 4];
  if (weights.length !== numWeights || numInputs % block !== 0 || numOutputs % 4 !== 0) return undefined;
  const bias = reads.get('c')?.buffer ?? reads.get('bias')?.buffer;
  return { at, input, weights, bias, layout, numRows, numInputs, numOutputs, type };
}

function layoutOf(code: string): MatrixLayout | undefined {
  const bits = /bits : u32 = (\d)|elements_in_uint32:u32 = 32u \/ (\d)/.exec(code);
  if (bits) return (bits[1] ?? bits[2]) === '8' ? 8 : 4;
  const rows = /fn mm_readB[^}]*?if ?\(row < i32\(uniforms\.(\w+)\)/.exec(code)?.[1];
  if (rows === 'dim_inner') return 'by-inputs';
  return rows === 'dim_b_outer' ? 'by-outputs' : undefined;
}
