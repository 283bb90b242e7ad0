/** How a matrix lies: [inputs, outputs], or [outputs, inputs], whole or in blocks of 8 or 4 bits. */
export type MatrixLayout = 'by-inputs' | 'by-outputs' | 8 | 4;

export interface ProductShape {
  readonly layout: MatrixLayout;
  readonly numInputs: number;
  readonly numOutputs: number;
  /** A power of two: the product computes as many rows, whether they are in use or not. */
  readonly numRows: number;
  readonly type: 'f16' | 'f32';
  /** Normalizes the inputs first. */
  readonly norm: { readonly method: 'layer' | 'rms'; readonly epsilon: number } | undefined;
  readonly activation: ProductActivation | undefined;
  readonly hasBias: boolean;
  /** Multiplies the activated product with that of a second matrix. */
  readonly isGate: boolean;
  /** Adds the residual stream. */
  readonly hasResidual: boolean;
}

export type ProductActivation = 'gelu_tanh' | { readonly sigmoidFactor: number };

/** Values of a block that share a scale. */
export const QUANTIZED_BLOCK = 32;

/** Outputs of a workgroup: 4 for each of its 4 groups of 32 lanes, which share the inputs. */
export const OUTPUTS_PER_WORKGROUP = 16;

/**
 * Products of few rows: lanes share the inputs, so a matrix is read once, in many small workgroups. onnxruntime-web's tiles are made for
 * many rows, and a workgroup of theirs goes through all inputs by itself.
 *
 * @returns WGSL, and the names of its bindings in order.
 */
export function productShader(shape: ProductShape) {
  const { numInputs, numOutputs, numRows, type, norm, hasBias, isGate, hasResidual, layout } = shape;
  const isPacked = typeof layout === 'number';
  const matrices = isGate ? ['matrix', 'second'] : ['matrix'];
  const bindings: readonly (readonly [name: string, type: string])[] = [
    ['input', `vec4<${type}>`],
    ...(norm ? [['gain', `vec4<${type}>`] as const] : []),
    ...(norm?.method === 'layer' ? [['shift', `vec4<${type}>`] as const] : []),
    ...matrices.flatMap((name) => [
      [name, isPacked ? 'u32' : `vec4<${type}>`] as const,
      ...(isPacked
        ? ([
            [`${name}_scales`, type],
            [`${name}_zeros`, 'u32'],
          ] as const)
        : []),
    ]),
    ...(hasBias ? [['bias', `vec4<${type}>`] as const] : []),
    ...(hasResidual ? [['residual', `vec4<${type}>`] as const] : []),
    ['output', `vec4<${type}>`],
  ];
  const declared = bindings.map(([name, of], i) => {
    const access = name === 'output' ? 'read_write' : 'read';
    return `@group(0) @binding(${i}) var<storage, ${access}> ${name}: array<${of}>;`;
  });
  const code = `${type === 'f16' ? 'enable f16;\n' : ''}${declared.join('\n')}
const K4 = ${numInputs / 4}u;
const N4 = ${numOutputs / 4}u;
const ROWS = ${numRows}u;
alias Rows = array<vec4<f32>, ROWS>;
var<workgroup> parts: array<vec4<f32>, ROWS * 64u>;
${norm ? normCode(norm) : 'fn inputOf(row: u32, k: u32) -> vec4<f32> { return vec4<f32>(input[row * K4 + k]); }'}
${matrices.map((name) => weightsCode(name, shape)).join('\n')}
fn sumOfLanes(sums: ptr<function, Rows>, t: u32) {
  let lane = t % 32u;
  for (var half = 16u; half > 0u; half /= 2u) {
    if (lane >= half && lane < 2u * half) {
      for (var r = 0u; r < ROWS; r++) { parts[(r * 4u + t / 32u) * 16u + lane - half] = (*sums)[r]; }
    }
    workgroupBarrier();
    if (lane < half) {
      for (var r = 0u; r < ROWS; r++) { (*sums)[r] += parts[(r * 4u + t / 32u) * 16u + lane]; }
    }
    workgroupBarrier();
  }
}
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) t: u32) {
  let lane = t % 32u;
  let place = group.x * 4u + t / 32u;
  let n = min(place, N4 - 1u);
  ${norm ? 'measure(t);' : ''}
  ${matrices.map((name) => `var ${name}_sums: Rows;`).join('\n  ')}
  for (var k = lane; k < K4; k += 32u) {
    ${matrices.map((name) => `let ${name}_part = ${name}_at(n, k);`).join('\n    ')}
    for (var r = 0u; r < ROWS; r++) {
      let x = inputOf(r, k);
      ${matrices.map((name) => `${name}_sums[r] += ${layout === 'by-inputs' ? `${name}_part * x` : `x * ${name}_part`};`).join('\n      ')}
    }
  }
  ${matrices.map((name) => `sumOfLanes(&${name}_sums, t);`).join('\n  ')}
  if (lane > 0u || place >= N4) { return; }
  for (var r = 0u; r < ROWS; r++) {
    var y = matrix_sums[r];
    ${hasBias ? 'y += vec4<f32>(bias[n]);' : ''}
    ${activationCode(shape.activation)}
    ${isGate ? 'y *= second_sums[r];' : ''}
    ${hasResidual ? 'y += vec4<f32>(residual[r * N4 + n]);' : ''}
    output[r * N4 + n] = vec4<${type}>(y);
  }
}
`;
  return { code, names: bindings.map(([name]) => name) };
}

/** Every workgroup measures the rows: that costs less than a dispatch. */
function normCode({ method, epsilon }: NonNullable<ProductShape['norm']>): string {
  const isLayer = method === 'layer';
  return `
var<workgroup> moment_parts: array<vec2<f32>, ROWS * 64u>;
var<workgroup> moments: array<vec2<f32>, ROWS>;
fn measure(t: u32) {
  var sums: array<vec2<f32>, ROWS>;
  for (var k = t; k < K4; k += 128u) {
    for (var r = 0u; r < ROWS; r++) {
      let x = vec4<f32>(input[r * K4 + k]);
      sums[r] += vec2<f32>(dot(x, vec4<f32>(1)), dot(x, x));
    }
  }
  for (var half = 64u; half > 0u; half /= 2u) {
    if (t >= half && t < 2u * half) {
      for (var r = 0u; r < ROWS; r++) { moment_parts[r * 64u + t - half] = sums[r]; }
    }
    workgroupBarrier();
    if (t < half) {
      for (var r = 0u; r < ROWS; r++) { sums[r] += moment_parts[r * 64u + t]; }
    }
    workgroupBarrier();
  }
  if (t == 0u) {
    for (var r = 0u; r < ROWS; r++) {
      let mean = ${isLayer ? 'sums[r].x / f32(K4 * 4u)' : '0.0'};
      moments[r] = vec2<f32>(mean, inverseSqrt(sums[r].y / f32(K4 * 4u) - mean * mean + f32(${epsilon})));
    }
  }
  workgroupBarrier();
}
fn inputOf(row: u32, k: u32) -> vec4<f32> {
  let x = (vec4<f32>(input[row * K4 + k]) - moments[row].x) * moments[row].y * vec4<f32>(gain[k]);
  return x${isLayer ? ' + vec4<f32>(shift[k])' : ''};
}`;
}

/** The weights of 4 inputs from `4 * k` on for 4 outputs from `4 * n` on. */
function weightsCode(name: string, { layout, numInputs }: ProductShape): string {
  const part =
    layout === 'by-inputs'
      ? `vec4<f32>(${name}[(k * 4u + i) * N4 + n])`
      : layout === 'by-outputs'
        ? `vec4<f32>(${name}[(n * 4u + i) * K4 + k])`
        : unpackedCode(name, layout, numInputs);
  return `fn ${name}_at(n: u32, k: u32) -> mat4x4<f32> {
  var part: mat4x4<f32>;
  for (var i = 0u; i < 4u; i++) {
    part[i] = ${part};
  }
  return part;
}`;
}

function unpackedCode(name: string, bits: 8 | 4, numInputs: number): string {
  const [perWord, mask] = [32 / bits, 2 ** bits - 1];
  const blocks = numInputs / QUANTIZED_BLOCK;
  // Zero points of a row begin with a byte.
  const zerosPerRow = (8 / bits) * Math.ceil((blocks * bits) / 8);
  const [row, block] = ['(n * 4u + i)', `k / ${QUANTIZED_BLOCK / 4}u`];
  const at = `${row} * ${zerosPerRow}u + ${block}`;
  const word = `${name}[${row} * ${numInputs / perWord}u + k * 4u / ${perWord}u]`;
  const shifts = `vec4<u32>(0, ${bits}, ${2 * bits}, ${3 * bits}) + (k * 4u % ${perWord}u) * ${bits}u`;
  const zero = `f32((${name}_zeros[(${at}) / ${perWord}u] >> ((${at}) % ${perWord}u * ${bits}u)) & ${mask}u)`;
  const scale = `f32(${name}_scales[${row} * ${blocks}u + ${block}])`;
  return `(vec4<f32>((vec4<u32>(${word}) >> (${shifts})) & vec4<u32>(${mask})) - ${zero}) * ${scale}`;
}

/** Both are the input times a sigmoid, which is 0 where its exponent would overflow. */
function activationCode(activation: ProductActivation | undefined): string {
  if (!activation) return '';
  const exponent =
    activation === 'gelu_tanh'
      ? 'y * (0.07135481627260025 * y * y + 1.5957691216057308)'
      : `y * f32(${activation.sigmoidFactor})`;
  return `y = y / (1.0 + exp(min(-${exponent}, vec4<f32>(80))));`;
}
