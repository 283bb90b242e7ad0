/**
 * Gives an array's memory back at once. The garbage collector would let hundreds of megabytes of such buffers pile up. The
 * array is empty afterwards.
 */
export function freeBuffer({ buffer }: { readonly buffer: ArrayBuffer }): void {
  if (!buffer.detached) buffer.transfer(0);
}
