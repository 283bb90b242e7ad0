/** Fills the target with bytes of the packed file. */
export type ReadPacked = (target: Uint8Array<ArrayBuffer>, at: number) => void;

/**
 * The packed file as onnxruntime-web 1.30 takes external data, without its bytes being here: of a `Uint8Array` it only
 * asks `byteLength`, and `subarray` once per initializer, which it copies at once to its own heap or to the GPU. So the
 * bytes are read when they are asked for, all into one buffer of the largest initializer's size.
 *
 * @param size Of the file in bytes.
 * @param read Synchronous: a `FileSystemSyncAccessHandle` of OPFS is, where a worker holds it.
 */
export function lazyBytes(size: number, read: ReadPacked): Uint8Array {
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
