/**
 * The packed file as external data for onnxruntime-web 1.30, read on demand. onnxruntime-web uses only `byteLength` of a
 * `Uint8Array`, and `subarray` once per initializer, and copies the result at once. So `read` may return the same memory each time.
 *
 * @param size Bytes of the file.
 * @param read Returns the bytes from `begin` to `end`, exclusive, synchronously. If it throws, the session is not made.
 */
export function lazyBytes(size: number, read: (begin: number, end: number) => Uint8Array): Uint8Array {
  return Object.defineProperties(new Uint8Array(), {
    byteLength: { value: size },
    subarray: { value: read },
  });
}
