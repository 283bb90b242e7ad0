import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/**
 * The parts of a protobuf message that lie behind these field numbers.
 *
 * @throws RangeError where it is none.
 */
export function* fieldsAt(message: Uint8Array, [wanted, ...path]: readonly number[]): Generator<Uint8Array> {
  if (wanted === undefined) {
    yield message;
    return;
  }
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === wanted && type === WireType.LengthDelimited) yield* fieldsAt(reader.bytes(), path);
    else reader.skip(type, field);
  }
}
