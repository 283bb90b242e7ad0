import { describe, expect, it } from 'vitest';
import { readFloats, toFloat16 } from './float-formats.ts';

const bytesOf = (array: Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer>) => new Uint8Array(array.buffer);

/** There and back. */
const roundToFloat16 = (value: number) => readFloats(bytesOf(toFloat16(Float32Array.of(value))), 'F16')[0];

/** Independent of the implementation: (-1)^sign * 2^(exponent - 15) * 1.fraction, by arithmetic. */
function valueOfHalf(bits: number): number {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const ALL_HALVES = Uint16Array.from({ length: 2 ** 16 }, (_, bits) => bits);

describe('readFloats', () => {
  it('widens every fp16 value exactly, subnormals, zeros and infinities included', () => {
    const floats = readFloats(bytesOf(ALL_HALVES), 'F16');
    expect([...floats].filter((value, bits) => !Object.is(value, valueOfHalf(bits)))).toEqual([]);
  });

  it('widens bf16', () => {
    const bits = Uint16Array.of(0x3fc0, 0xc000, 0x0001);
    expect([...readFloats(bytesOf(bits), 'BF16')]).toEqual([1.5, -2, Math.fround(2 ** -133)]);
  });

  it('reads fp32 that starts unaligned', () => {
    const bytes = new Uint8Array([0, ...bytesOf(Float32Array.of(1.5, -2))]);
    expect([...readFloats(bytes.subarray(1), 'F32')]).toEqual([1.5, -2]);
  });
});

describe('toFloat16', () => {
  it('gives every fp16 value back', () => {
    const numbers = ALL_HALVES.filter((bits) => Number.isFinite(valueOfHalf(bits)));
    expect(toFloat16(readFloats(bytesOf(numbers.slice()), 'F16'))).toEqual(numbers);
  });

  it('rounds to the nearest, and to the even one in the middle', () => {
    const [one, next] = [1, 1 + 2 ** -10];
    expect(roundToFloat16(one + 0.49 * 2 ** -10)).toBe(one);
    expect(roundToFloat16(one + 0.5 * 2 ** -10)).toBe(one);
    expect(roundToFloat16(next + 0.5 * 2 ** -10)).toBe(1 + 2 ** -9);
    expect(roundToFloat16(1.5 * 2 ** -24)).toBe(2 ** -23);
    expect(roundToFloat16(2.5 * 2 ** -24)).toBe(2 ** -23);
    expect(roundToFloat16(2 ** -14 - 2 ** -26)).toBe(2 ** -14);
  });

  it('makes what is too large the largest value, and keeps infinity and NaN', () => {
    expect([70_000, -1e30, 65_519].map(roundToFloat16)).toEqual([65_504, -65_504, 65_504]);
    expect(roundToFloat16(-Infinity)).toBe(-Infinity);
    expect(roundToFloat16(Number.NaN)).toBeNaN();
  });
});
