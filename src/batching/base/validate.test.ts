import { describe, expect, expectTypeOf, it } from 'vitest';
import { InvalidOptionError, UnknownOptionError } from './errors.ts';
import { parseOptions } from './parse-options.ts';
import { finiteIn, integerIn, integerOrInfinityIn, isBoolean, oneOf, type Validators } from './validate.ts';

interface Options {
  readonly size?: number;
  readonly kind?: 'big' | 'small';
}

const OPTIONS: Validators<Options> = { size: integerIn({ from: 1 }), kind: oneOf('big', 'small') };

describe('validators', () => {
  it.each([
    ['integerIn({})', integerIn({}), [-3, 0, 7], [0.5, NaN, Infinity, '1', null, 1n]],
    ['integerIn from 1 to 3', integerIn({ from: 1, to: 3 }), [1, 3], [0, 4, 2.5]],
    ['integerIn above 1', integerIn({ above: 1 }), [2], [1]],
    ['integerOrInfinityIn from 1', integerOrInfinityIn({ from: 1 }), [1, Infinity], [0, 1.5, -Infinity, NaN]],
    ['finiteIn above 0 to 1', finiteIn({ above: 0, to: 1 }), [1e-9, 1], [0, 1.1, NaN, true]],
    ['finiteIn({})', finiteIn({}), [-1.5, 0], [Infinity, NaN, undefined]],
    ['isBoolean', isBoolean, [true, false], [1, 'true', null]],
    ['oneOf a, b', oneOf('a', 'b'), ['a', 'b'], ['c', '', 0]],
  ])('%s', (_, validate, good, bad) => {
    for (const value of good) expect(validate('option', value)).toBe(value);
    for (const value of bad) expect(() => validate('option', value)).toThrow(InvalidOptionError);
  });

  it.each([
    [integerIn({}), 'Expected `x` to be an integer, got'],
    [integerIn({ from: 1, to: 64 }), 'Expected `x` to be an integer >= 1 and <= 64, got'],
    [finiteIn({ above: 0, to: 1 }), 'Expected `x` to be a finite number > 0 and <= 1, got'],
    [integerOrInfinityIn({ from: 1 }), 'Expected `x` to be an integer >= 1 or Infinity, got'],
    [isBoolean, 'Expected `x` to be true or false, got'],
    [oneOf('on', 'off'), 'Expected `x` to be one of on, off, got'],
  ])('say what they expect', (validate, message) => {
    expect(() => validate('x', {})).toThrow(message);
  });
});

describe('parseOptions', () => {
  it('keeps what is given and adds nothing', () => {
    const options = parseOptions('options', OPTIONS, { size: 3 });
    expect(options).toEqual({ size: 3 });
    expectTypeOf(options.kind).toEqualTypeOf<'big' | 'small' | undefined>();
  });

  it('demands a validator for every option, optional or not', () => {
    // @ts-expect-error `kind` has none
    const incomplete: Validators<Options> = { size: integerIn({}) };
    expect(() => parseOptions('options', incomplete, { kind: 'big' })).toThrow(UnknownOptionError);
  });
});
