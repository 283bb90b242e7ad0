import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { fieldsAt } from './onnx-files.ts';

const field = fc.integer({ min: 1, max: 2 ** 29 - 1 });
const entry = fc.record({
  field: fc.oneof(fc.integer({ min: 1, max: 3 }), field),
  value: fc.oneof(
    fc.record({ bytes: fc.uint8Array({ maxLength: 300 }) }),
    fc.record({ varint: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
    fc.record({ bits64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
    fc.record({ bits32: fc.nat() }),
  ),
});
type Entry = typeof entry extends fc.Arbitrary<infer Value> ? Value : never;

function write(entries: readonly Entry[]): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  for (const { field: number, value } of entries) {
    if ('bytes' in value) writer.tag(number, WireType.LengthDelimited).bytes(value.bytes);
    else if ('varint' in value) writer.tag(number, WireType.Varint).uint64(value.varint);
    else if ('bits64' in value) writer.tag(number, WireType.Bit64).fixed64(value.bits64);
    else writer.tag(number, WireType.Bit32).fixed32(value.bits32);
  }
  return new Uint8Array(writer.finish());
}

it('finds the parts that protobuf has written, behind all other fields, at each depth', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 8 }), field, (entries, outer) => {
      const message = write(entries);
      for (const wanted of new Set(entries.map((each) => each.field))) {
        const parts = entries.flatMap(({ field: number, value }) =>
          number === wanted && 'bytes' in value ? [value.bytes] : [],
        );
        expect([...fieldsAt(message, [wanted])]).toEqual(parts);
        const nested = write([{ field: outer, value: { bytes: message } }]);
        expect([...fieldsAt(nested, [outer, wanted])]).toEqual(parts);
      }
    }),
  );
});

function outcomeOf(bytes: Uint8Array): string {
  try {
    return [...fieldsAt(bytes, [1])].length <= bytes.length ? 'read' : 'too much';
  } catch (error) {
    return error instanceof RangeError ? 'refused' : String(error);
  }
}

it('ends, with a RangeError at most, for bytes that are no message', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      expect(['read', 'refused']).toContain(outcomeOf(bytes));
    }),
  );
});
