import { describe, expect, it } from 'vitest';
import { jsonRecordIn } from './validate-compound.ts';

function nested(depth: number): unknown {
  return JSON.parse(`${'{"[":'.repeat(depth)}1${'}'.repeat(depth)}`);
}

describe('jsonRecordIn', () => {
  it('refuses more levels than a message to the worker may have', () => {
    const long = jsonRecordIn({ maxLength: 100_000 });
    expect(long('schema', nested(200))).toEqual(nested(200));
    expect(() => long('schema', nested(201))).toThrow('200 levels');
  });

  const validate = jsonRecordIn({ maxLength: 20 });

  it('takes what JSON writes of a record, and no more', () => {
    expect(validate('x', { a: [1, null], b: undefined })).toEqual({ a: [1, null] });
  });

  it.each([
    ['a list', [1]],
    ['a text', '{}'],
    ['nothing', undefined],
    ['a bigint inside', { a: 1n }],
    ['more characters than allowed', { a: 'b'.repeat(20) }],
  ])('refuses %s', (_, value) => {
    expect(() => validate('x', value)).toThrow(/`x` to be a record of at most 20 characters of JSON/);
  });
});
