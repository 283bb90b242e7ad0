/**
 * WGSL: a token's logit after mask, bias and penalties, the counterpart of `adjust-logits.ts`, as a key: an unsigned integer in
 * the order of the logits. Only integers are compared, because WGSL may assume that floats are never infinite or NaN.
 */
export const LOGITS_WGSL = /* wgsl */ `
const KEY_OF_MINUS_INFINITY = 0x007fffffu;
const MINUS_INFINITY = 0xff800000u;
const PLUS_INFINITY = 0x7f800000u;

/** The row that the functions below read; the same in each thread of the workgroup. */
struct View {
  options: RowOptions,
  /** The row's first index in logits. */
  start: u32,
  /** The row's first index in adjustments. */
  adjustments_start: u32,
  is_adjusted: bool,
  /** The row's first word in masks. */
  mask_start: u32,
  is_masked: bool,
}
var<private> view: View;

/**
 * Keeps the compiler from fusing a product with the sum that it goes into: that would round once where the CPU rounds twice.
 * The xor with a zero that the compiler doesn't know hides the float operation: no vocabulary has 2^31 tokens.
 */
fn rounded(value: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(value) ^ (view.options.vocab_size >> 31u));
}

fn is_fault(bits: u32) -> bool {
  return (bits & 0x7fffffffu) > PLUS_INFINITY || bits == PLUS_INFINITY;
}

/** 0 and -0 have the same key. */
fn key_of(bits: u32) -> u32 {
  if (bits == 0x80000000u) {
    return 0x80000000u;
  }
  return select(bits | 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

fn logit_of(key: u32) -> f32 {
  return bitcast<f32>(select(~key, key ^ 0x80000000u, (key >> 31u) == 1u));
}

fn key_at(id: u32) -> u32 {
  let bits = logits[view.start + id];
  if (view.is_masked && ((masks[view.mask_start + (id >> 5u)] >> (id & 31u)) & 1u) == 0u) {
    return KEY_OF_MINUS_INFINITY;
  }
  if (!view.is_adjusted || bits == MINUS_INFINITY) {
    return key_of(bits);
  }
  let adjustment = adjustments[view.adjustments_start + id];
  let num_seen = adjustment.num_seen;
  var logit = rounded(bitcast<f32>(bits) + bitcast<f32>(adjustment.bias));
  if (num_seen > 0u) {
    let num_outputs = num_seen - 1u;
    logit = rounded(logit * select(view.options.repetition, view.options.repetition_inverse, logit > 0.0));
    logit = rounded(logit - rounded(view.options.frequency * f32(num_outputs)));
    logit = rounded(logit - select(0.0, view.options.presence, num_outputs > 0u));
  }
  return key_of(bitcast<u32>(logit));
}
`;
