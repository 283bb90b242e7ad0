import { PHILOX } from '../../../batching/sampling/random.ts';

/** WGSL: 64-bit sums as (low, high), and Philox 2x32, the counterparts of `multiply-high.ts` and `random.ts`. */
export const INTEGERS_WGSL = /* wgsl */ `
fn multiply_high(a: u32, b: u32) -> u32 {
  let a_low = a & 0xffffu;
  let a_high = a >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let middle = a_high * b_low;
  let carried = ((a_low * b_low) >> 16u) + (middle & 0xffffu) + a_low * b_high;
  return a_high * b_high + (middle >> 16u) + (carried >> 16u);
}

fn add(a: vec2u, b: vec2u) -> vec2u {
  let low = a.x + b.x;
  return vec2u(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn subtract(a: vec2u, b: vec2u) -> vec2u {
  return vec2u(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn is_greater(a: vec2u, b: vec2u) -> bool {
  return a.y > b.y || (a.y == b.y && a.x > b.x);
}

/** floor(total * units / 2^24) for units up to 2^24. */
fn share_of(total: vec2u, units: u32) -> vec2u {
  let low = vec2u(total.x * units, multiply_high(total.x, units));
  let high = vec2u(total.y * units, multiply_high(total.y, units));
  let upper = add(vec2u(low.y, 0u), high);
  return vec2u((low.x >> 24u) | (upper.x << 8u), (upper.x >> 24u) | (upper.y << 8u));
}

/** The random number of one position of one sequence, in units of 2^-24. */
fn random_units(seed: u32, position: u32) -> u32 {
  var low = position;
  var high = 0u;
  var key = seed;
  for (var round = 0u; round < ${PHILOX.numRounds}u; round++) {
    let product = ${PHILOX.multiplier}u * low;
    low = multiply_high(${PHILOX.multiplier}u, low) ^ key ^ high;
    high = product;
    key += ${PHILOX.keyIncrement}u;
  }
  return low >> 8u;
}
`;
