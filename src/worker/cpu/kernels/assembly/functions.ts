/** 1.5 · 2²³: a sum with it has no bits behind the point, and its lowest bits are an integer. */
const ROUNDER: f32 = 12582912;

/** Limits, 1 / ln 2, what rounds, ln 2 in two parts, and the polynomial's factors. */
const EXP = memory.data<f32>([
  88.37626, -87.33654, 1.44269504, ROUNDER, 0.693359375, -2.1219444e-4, 1.98756915e-4, 1.3981999507e-3,
  8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1,
]);

const TANH = memory.data<f32>([
  -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1, 2, 1, 0.625,
]);

const NORMAL = memory.data<f32>([
  0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368,
  -1.26551223, 0.70710678, 1, 0.5,
]);

/** A number of a table in all lanes. V8 needs one instruction for it, and three for a constant in the code, each time it is used. */
@inline
function splat(table: usize, index: usize): v128 {
  return v128.load32_splat(table + (index << 2));
}

/** p · x + a number of a table. */
@inline
function nextTerm(p: v128, x: v128, table: usize, index: usize): v128 {
  return f32x4.add(f32x4.mul(p, x), splat(table, index));
}

/**
 * e^x in fp32, within 2 units of the last place: no host has one with the same bits everywhere. Cephes' polynomial for what remains of
 * x / ln 2 beside its nearest integer, which becomes the exponent. NaN stays NaN.
 */
@inline
export function exp(x: v128): v128 {
  // Of NaN these give their first operand. They are one instruction, where `min` and `max` are several.
  const clamped = f32x4.pmax(f32x4.pmin(x, splat(EXP, 0)), splat(EXP, 1));
  const rounded = nextTerm(clamped, splat(EXP, 2), EXP, 3);
  const n = f32x4.sub(rounded, splat(EXP, 3));
  // The product with the first part of ln 2 is exact.
  let f = f32x4.sub(clamped, f32x4.mul(n, splat(EXP, 4)));
  f = f32x4.sub(f, f32x4.mul(n, splat(EXP, 5)));
  let p = splat(EXP, 6);
  p = nextTerm(p, f, EXP, 7);
  p = nextTerm(p, f, EXP, 8);
  p = nextTerm(p, f, EXP, 9);
  p = nextTerm(p, f, EXP, 10);
  p = nextTerm(p, f, EXP, 11);
  p = f32x4.add(f32x4.add(f32x4.mul(p, f32x4.mul(f, f)), f), splat(EXP, 12));
  // The shift drops the bits of the rounder.
  return f32x4.mul(p, i32x4.shl(i32x4.add(rounded, i32x4.splat(127)), 23));
}

@inline
export function sigmoid(x: v128): v128 {
  const one = splat(EXP, 12);
  return f32x4.div(one, f32x4.add(one, exp(f32x4.neg(x))));
}

/** Near 0 by Cephes' polynomial, where the difference of two numbers near 1 would lose its bits. */
@inline
export function tanh(x: v128): v128 {
  const z = f32x4.mul(x, x);
  let p = splat(TANH, 0);
  p = nextTerm(p, z, TANH, 1);
  p = nextTerm(p, z, TANH, 2);
  p = nextTerm(p, z, TANH, 3);
  p = nextTerm(p, z, TANH, 4);
  const near = f32x4.add(x, f32x4.mul(f32x4.mul(p, z), x));
  const two = splat(TANH, 5);
  const one = splat(TANH, 6);
  const far = f32x4.sub(one, f32x4.div(two, f32x4.add(exp(f32x4.mul(two, x)), one)));
  return v128.bitselect(near, far, f32x4.lt(f32x4.abs(x), splat(TANH, 7)));
}

/** The share of the normal distribution below x, by Numerical Recipes' fit of erfc, whose relative error is below 1.2e-7. */
@inline
export function normalShare(x: v128): v128 {
  const z = f32x4.mul(f32x4.abs(x), splat(NORMAL, 10));
  const one = splat(NORMAL, 11);
  const half = splat(NORMAL, 12);
  const t = f32x4.div(one, f32x4.add(one, f32x4.mul(z, half)));
  let p = splat(NORMAL, 0);
  p = nextTerm(p, t, NORMAL, 1);
  p = nextTerm(p, t, NORMAL, 2);
  p = nextTerm(p, t, NORMAL, 3);
  p = nextTerm(p, t, NORMAL, 4);
  p = nextTerm(p, t, NORMAL, 5);
  p = nextTerm(p, t, NORMAL, 6);
  p = nextTerm(p, t, NORMAL, 7);
  p = nextTerm(p, t, NORMAL, 8);
  p = nextTerm(p, t, NORMAL, 9);
  const tail = f32x4.mul(f32x4.mul(t, half), exp(f32x4.sub(p, f32x4.mul(z, z))));
  return v128.bitselect(tail, f32x4.sub(one, tail), f32x4.lt(x, f32x4.splat(0)));
}
