interface TensorSpec {
  readonly dtype: keyof typeof BYTES_PER_ELEMENT;
  readonly shape: readonly number[];
  /** The tensor's bytes; zeros where left out. */
  readonly bytes?: Uint8Array;
}

const BYTES_PER_ELEMENT = { U8: 1, F16: 2, BF16: 2, F32: 4, F64: 8 } as const;

/** Test support: a safetensors file of these tensors, one after another. */
export function safetensorsFile(tensors: Readonly<Record<string, TensorSpec>>): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt' } };
  const parts: Uint8Array[] = [];
  let offset = 0;
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    const numBytes = shape.reduce((product, size) => product * size, 1) * BYTES_PER_ELEMENT[dtype];
    header[name] = { dtype, shape, data_offsets: [offset, offset + numBytes] };
    parts.push(bytes ?? new Uint8Array(numBytes));
    offset += numBytes;
  }
  const json = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(BigUint64Array.of(BigInt(json.length)).buffer);
  const file = new Uint8Array(length.length + json.length + offset);
  let at = 0;
  for (const part of [length, json, ...parts]) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}
