import { multiplyHigh } from './random.ts';
import { at } from './top-k.ts';

/**
 * Unnormalized probabilities as integers: exp((logit - largest) / temperature) in units of 2^-31. Devices differ in the
 * exponential of a float, and sums of floats depend on their order. These integers and their sums are the same everywhere,
 * so a GPU draws the same token as the CPU.
 *
 * The only float operations are one subtraction and one multiplication in f32, which every device rounds to the nearest.
 * The rest is 2^-x for a fixed-point x: whole octaves are a shift, the first 8 bits of the fraction a table, and the
 * other 12 bits the series 1 - r + r²/2 of exp(-r).
 */

/** The weight of the likeliest token. */
export const LARGEST_WEIGHT = 2 ** 31;

/** Fixed-point distances count 2^-20 octaves. */
export const UNITS_PER_OCTAVE = 2 ** 20;

/** From this distance on a weight is 0. */
export const END_OF_WEIGHTS = 32 * UNITS_PER_OCTAVE;

/** ln 2 in units of 2^-20: the decay per unit of the fraction's low bits, in units of 2^-40. */
export const LN2_UNITS = 726_817;

/** 2^(-1/256), 2^(-1/128), … 2^(-1/2), in units of 2^-32: the bits of the table's index, from the lowest. */
export const FRACTION_FACTORS: readonly number[] = [
  0xff4ecb59, 0xfe9e115c, 0xfd3e0c0c, 0xfa83b2db, 0xf5257d15, 0xeac0c6e7, 0xd744fcca, 0xb504f333,
];

/** Shares of a total count 2^-24, as random numbers do. */
export const SHARE_UNITS = 2 ** 24;

/** 2^(-i/256) for the first 8 bits of the fraction, in units of 2^-31. */
const FRACTIONS: Uint32Array = Uint32Array.from({ length: 256 }, (_, index) =>
  FRACTION_FACTORS.reduce(
    (product, factor, bit) => ((index >> bit) & 1 ? multiplyHigh(product, factor) : product),
    LARGEST_WEIGHT,
  ),
);

/** Within these bounds, the product with any logit difference that matters is a normal f32. */
const SMALLEST_SHARPNESS = 2 ** -100;
const LARGEST_SHARPNESS = 2 ** 100;

/** Units of distance per unit of logit at a temperature above 0; an f32. */
export function sharpnessOf(temperature: number): number {
  const sharpness = Math.min(Math.max(Math.LOG2E / temperature, SMALLEST_SHARPNESS), LARGEST_SHARPNESS);
  return Math.fround(sharpness) * UNITS_PER_OCTAVE;
}

/** The weight of a token, from 0 to `LARGEST_WEIGHT`. Both logits are f32, and -Infinity weighs 0. */
export function weightOf(logit: number, largestLogit: number, sharpness: number): number {
  const distance = Math.fround(Math.fround(largestLogit - logit) * sharpness);
  return distance < END_OF_WEIGHTS ? weightAt(Math.trunc(distance)) : 0;
}

/** Min-p: the weight that a token must reach, at least 1. */
export function smallestWeightFor(minP: number): number {
  return Math.max(1, Math.ceil(minP * LARGEST_WEIGHT));
}

/**
 * floor(total * fraction), exactly, for a total below 2^53 and a fraction in [0, 1], rounded to the nearest 2^-24. The
 * product has up to 77 bits.
 */
export function shareOf(total: number, fraction: number): number {
  const numerator = Math.round(fraction * SHARE_UNITS);
  const low = total % SHARE_UNITS;
  return ((total - low) / SHARE_UNITS) * numerator + Math.floor((low * numerator) / SHARE_UNITS);
}

/** 2^(31 - distance / 2^20), rounded down; it falls with every unit of the fraction. */
export function weightAt(distance: number): number {
  const fraction = at(FRACTIONS, (distance >>> 12) & 0xff);
  const r = (LN2_UNITS * (distance & 0xfff)) >>> 8;
  const halfSquare = ((r >>> 8) * (r >>> 8)) >>> 17;
  const decay = ((fraction >>> 15) * ((r - halfSquare) >>> 8)) >>> 9;
  return (fraction - decay) >>> (distance >>> 20);
}
