import type { Clock } from './clock.ts';
import { describeInvalid } from './errors.ts';

// One validator per kind of option. Each returns the value, typed, or throws: TypeError for the wrong type (NaN is not
// a number here), RangeError for a number out of range. The message names the option as the caller spelled it.

export function requireCount(option: string, value: unknown): number {
  const expected = 'an integer >= 1';
  const count = requireNumber(option, expected, value);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new RangeError(describeInvalid(option, expected, value));
}

export function requireCountOrInfinity(option: string, value: unknown): number {
  const expected = 'an integer >= 1 or Infinity';
  const count = requireNumber(option, expected, value);
  if (count === Infinity || (Number.isInteger(count) && count >= 1)) return count;
  throw new RangeError(describeInvalid(option, expected, value));
}

export function requireDuration(option: string, value: unknown): number {
  const expected = 'a finite number >= 0';
  const duration = requireNumber(option, expected, value);
  if (Number.isFinite(duration) && duration >= 0) return duration;
  throw new RangeError(describeInvalid(option, expected, value));
}

export function requireFinite(option: string, value: unknown): number {
  const expected = 'a finite number';
  const number = requireNumber(option, expected, value);
  if (Number.isFinite(number)) return number;
  throw new RangeError(describeInvalid(option, expected, value));
}

/** What `batchSizeFn` returned: Infinity is a size that fits nowhere. */
export function requireSize(option: string, value: unknown): number {
  const expected = 'a number >= 0';
  const size = requireNumber(option, expected, value);
  if (size >= 0) return size;
  throw new RangeError(describeInvalid(option, expected, value));
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

function requireNumber(option: string, expected: string, value: unknown): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value;
  throw new TypeError(describeInvalid(option, expected, value));
}
