import type { Clock } from './clock.ts';
import { describeInvalid } from './errors.ts';

// One validator per kind of option. Each returns the value, typed, or throws: TypeError for the wrong type (NaN is not
// a number here), RangeError for a number out of range. The message names the option as the caller spelled it.

export function requireCount(option: string, value: unknown): number {
  return requireNumber(option, 'an integer >= 1', value, isCount);
}

export function requireCountOrInfinity(option: string, value: unknown): number {
  const expected = 'an integer >= 1 or Infinity';
  return requireNumber(option, expected, value, (number) => number === Infinity || isCount(number));
}

export function requireDuration(option: string, value: unknown): number {
  return requireNumber(option, 'a finite number >= 0', value, (ms) => Number.isFinite(ms) && ms >= 0);
}

/** For the result of `batchSizeFn`. Infinity fits no batch. */
export function requireSize(option: string, value: unknown): number {
  return requireNumber(option, 'a number >= 0', value, (size) => size >= 0);
}

export function requireBoolean(option: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw new TypeError(describeInvalid(option, 'a boolean', value));
}

export function requireFunction<Fn>(option: string, value: Fn): Fn {
  if (typeof value === 'function') return value;
  throw new TypeError(describeInvalid(option, 'a function', value));
}

export function requireClock(option: string, value: Clock): Clock {
  const clock = value as Partial<Clock> | null;
  if (typeof clock?.now === 'function' && typeof clock.setTimer === 'function') return value;
  throw new TypeError(describeInvalid(option, 'a clock with now() and setTimer()', value));
}

function requireNumber(
  option: string,
  expected: string,
  value: unknown,
  isInRange: (value: number) => boolean,
): number {
  if (typeof value !== 'number' || Number.isNaN(value))
    throw new TypeError(describeInvalid(option, expected, value));
  if (isInRange(value)) return value;
  throw new RangeError(describeInvalid(option, expected, value));
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}
