const VARINT = 0;
const LENGTH_DELIMITED = 2;
/** Bytes of the other wire types: 64 and 32 bits. Groups are of old versions. */
const SIZES: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/**
 * The parts of a protobuf message that lie behind these field numbers. A library's reader would be a tenth of the worker's start.
 *
 * @throws RangeError where it is none.
 */
export function* fieldsAt(message: Uint8Array, [wanted, ...path]: readonly number[]): Generator<Uint8Array> {
  if (wanted === undefined) {
    yield message;
    return;
  }
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 63; factor *= 2 ** 7) {
      const byte = message[at];
      if (byte === undefined) break;
      at += 1;
      // Of numbers above 2^53, which no length is, the last bits are lost.
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError('a varint has no end');
  };
  while (at < message.length) {
    const tag = varint();
    const type = tag % 8;
    const number = type === VARINT || type === LENGTH_DELIMITED ? varint() : 0;
    const size = type === LENGTH_DELIMITED ? number : type === VARINT ? 0 : SIZES[type];
    if (size === undefined || at + size > message.length) throw new RangeError(`field ${tag} has no end`);
    const part = message.subarray(at, at + size);
    at += size;
    if (type === LENGTH_DELIMITED && Math.floor(tag / 8) === wanted) yield* fieldsAt(part, path);
  }
}
