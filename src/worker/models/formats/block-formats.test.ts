import { expect, it } from 'vitest';

import reference from '../../../../tools/reference/fixtures/gguf-blocks-reference.json' with { type: 'json' };
import { decodeBlocks, isBlockDtype } from './block-formats.ts';

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

const withoutSignOfZero = (values: Float32Array): Float32Array => values.map((value) => value + 0);

it.each(Object.entries(reference))(
  'decodes %s as the package gguf does, to the last bit',
  (dtype, { bytes, values }) => {
    if (!isBlockDtype(dtype)) throw new Error(`Expected ${dtype} to be known`);
    const expected = new Float32Array(bytesOf(values).buffer);
    expect(withoutSignOfZero(decodeBlocks(bytesOf(bytes), dtype))).toEqual(withoutSignOfZero(expected));
  },
);
