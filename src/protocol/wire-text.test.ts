import { describe, expect, it } from 'vitest';

import { parseOrderedJson, writeOrderedJson } from '../batching/base/ordered-json.ts';
import { fromWireText, packOrdered, toWireText } from './wire-text.ts';

describe('a message as text', () => {
  it('comes back as it was, with what JSON has no words for', () => {
    const message = {
      limit: Infinity,
      lowest: -Infinity,
      none: Number.NaN,
      left: undefined,
      list: [1.5, null, undefined, 'ü\u0000\u2028'],
      input: { bytes: new Uint8Array([1, 2]), big: 3n, at: new Date(0), by: new Map([[1, 2]]) },
    };
    expect(fromWireText(toWireText(message))).toEqual(message);
  });

  it('keeps the keys and numbers of a body as they were written', () => {
    const json = '{"properties":{"z":{"minimum":2.0},"10":{},"9":{}}}';
    const message = { limit: Infinity, list: [{ schema: parseOrderedJson(json) }] };
    const read = fromWireText(toWireText(structuredClone(packOrdered(message))));
    expect(read).toEqual(message);
    expect(writeOrderedJson(Object(read).list[0].schema)).toBe(json);
  });

  it('is refused where it cannot be one', () => {
    expect(() => toWireText({ call: () => 3 })).toThrow('function');
  });

  it.each([['{'], ['7'], ['[[9]]'], ['[{"a":5}]'], [new ArrayBuffer(8)], [undefined]])(
    'is nothing that can be taken for one: %j',
    (data) => {
      expect(fromWireText(data)).toBeUndefined();
    },
  );

  it('gives nothing a prototype of its own choice', () => {
    const read = fromWireText('[{"__proto__":1},{"isAdmin":2},true]');
    expect(read === undefined || !('isAdmin' in Object(read))).toBe(true);
    expect('isAdmin' in {}).toBe(false);
  });
});
