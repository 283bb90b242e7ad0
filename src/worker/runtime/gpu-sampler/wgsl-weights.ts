import {
  END_OF_WEIGHTS,
  FRACTION_FACTORS,
  LARGEST_WEIGHT,
  LN2_UNITS,
} from '../../../batching/sampling/token-weights.ts';

/** WGSL: `token-weights.ts`, integer for integer. The threads of the workgroup fill the table together. */
export const WEIGHTS_WGSL = /* wgsl */ `
var<workgroup> fractions: array<u32, 256>;

fn make_fractions(thread: u32) {
  for (var index = thread; index < 256u; index += WORKGROUP_SIZE) {
    fractions[index] = fraction_of(index);
  }
}

/** 2^(-index/256) in units of 2^-31. */
fn fraction_of(index: u32) -> u32 {
  var fraction = ${LARGEST_WEIGHT}u;
${FRACTION_FACTORS.map(multiplyWhereBitIsSet).join('\n')}
  return fraction;
}

fn weight_at(distance: u32) -> u32 {
  let fraction = fractions[(distance >> 12u) & 0xffu];
  let r = (${LN2_UNITS}u * (distance & 0xfffu)) >> 8u;
  let half_square = ((r >> 8u) * (r >> 8u)) >> 17u;
  let decay = ((fraction >> 15u) * ((r - half_square) >> 8u)) >> 9u;
  return (fraction - decay) >> (distance >> 20u);
}

fn weight_of(logit: f32, largest_logit: f32, sharpness: f32) -> u32 {
  let distance = (largest_logit - logit) * sharpness;
  if (distance < ${END_OF_WEIGHTS}f) {
    return weight_at(u32(distance));
  }
  return 0u;
}
`;

function multiplyWhereBitIsSet(factor: number, bit: number): string {
  return `  if (((index >> ${bit}u) & 1u) == 1u) { fraction = multiply_high(fraction, ${factor}u); }`;
}
