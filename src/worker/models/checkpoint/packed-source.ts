/**
 * The packed file as external data for onnxruntime-web 1.30, read on demand. onnxruntime-web uses only `byteLength` of a
 * `Uint8Array`, and `subarray` once per initializer, and copies the result at once. So one buffer of the size of the largest
 * initializer is enough.
 *
 * @param size Bytes of the file.
 * @param read Fills the target with the bytes at an offset, synchronously.
 */
export function lazyBytes(
  size: number,
  read: (target: Uint8Array<ArrayBuffer>, at: number) => void,
): Uint8Array {
  let scratch = new Uint8Array();
  return Object.defineProperties(new Uint8Array(), {
    byteLength: { value: size },
    subarray: {
      value(begin: number, end: number): Uint8Array {
        const length = end - begin;
        if (scratch.byteLength < length) scratch = new Uint8Array(length);
        const bytes = scratch.subarray(0, length);
        read(bytes, begin);
        return bytes;
      },
    },
  });
}
