/**
 * e^x in fp32, within 2 units of the last place: no host has one with the same bits everywhere. Cephes' polynomial for what remains of
 * x / ln 2 beside its nearest integer, which becomes the exponent. NaN stays NaN.
 */
@inline
export function exp(x: v128): v128 {
  const clamped = f32x4.max(f32x4.min(x, f32x4.splat(88.37626)), f32x4.splat(-87.33654));
  const n = f32x4.nearest(f32x4.mul(clamped, f32x4.splat(1.44269504)));
  // ln 2 in two parts: the product with the first is exact.
  let f = f32x4.sub(clamped, f32x4.mul(n, f32x4.splat(0.693359375)));
  f = f32x4.sub(f, f32x4.mul(n, f32x4.splat(-2.1219444e-4)));
  let p = f32x4.splat(1.98756915e-4);
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, f), f32x4.splat(5.0000001201e-1));
  p = f32x4.add(f32x4.add(f32x4.mul(p, f32x4.mul(f, f)), f), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(p, power);
}

@inline
export function sigmoid(x: v128): v128 {
  return f32x4.div(f32x4.splat(1), f32x4.add(f32x4.splat(1), exp(f32x4.neg(x))));
}

/** Near 0 by Cephes' polynomial, where the difference of two numbers near 1 would lose its bits. */
@inline
export function tanh(x: v128): v128 {
  const z = f32x4.mul(x, x);
  let p = f32x4.splat(-5.70498872745e-3);
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(2.06390887954e-2));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(-5.37397155531e-2));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(1.33314422036e-1));
  p = f32x4.add(f32x4.mul(p, z), f32x4.splat(-3.33332819422e-1));
  const near = f32x4.add(x, f32x4.mul(f32x4.mul(p, z), x));
  const two = f32x4.splat(2);
  const far = f32x4.sub(
    f32x4.splat(1),
    f32x4.div(two, f32x4.add(exp(f32x4.mul(two, x)), f32x4.splat(1))),
  );
  return v128.bitselect(near, far, f32x4.lt(f32x4.abs(x), f32x4.splat(0.625)));
}

/** The share of the normal distribution below x, by Numerical Recipes' fit of erfc, whose relative error is below 1.2e-7. */
@inline
export function normalShare(x: v128): v128 {
  const z = f32x4.mul(f32x4.abs(x), f32x4.splat(0.70710678));
  const one = f32x4.splat(1);
  const t = f32x4.div(one, f32x4.add(one, f32x4.mul(z, f32x4.splat(0.5))));
  let p = f32x4.splat(0.17087277);
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(-0.82215223));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(1.48851587));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(-1.13520398));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.27886807));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(-0.18628806));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.09678418));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(0.37409196));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(1.00002368));
  p = f32x4.add(f32x4.mul(p, t), f32x4.splat(-1.26551223));
  const tail = f32x4.mul(f32x4.mul(t, f32x4.splat(0.5)), exp(f32x4.sub(p, f32x4.mul(z, z))));
  return v128.bitselect(tail, f32x4.sub(one, tail), f32x4.lt(x, f32x4.splat(0)));
}
