/** Bytes of weights that stay in the second cache while rows pass by. */
const BLOCK_BYTES: usize = 262144;

/** Rows of this many bytes or more are fetched by the processor itself in time: it knows them by their first lines. */
const LONG_ROW: usize = 4096;

/** Keeps loads whose values nobody reads. */
let sink: i32 = 0;

/** Outputs of a block, a multiple of 8. */
@inline
export function outputsOfBlock(rowBytes: usize): i32 {
  return max<i32>(8, <i32>(BLOCK_BYTES / rowBytes) & ~7);
}

/**
 * Reads one byte of each line, for kernels that read rows column by column: as many lines as a processor can wait for are on their way
 * at once.
 */
export function fetchRows(at: usize, rowBytes: usize, rows: i32): void {
  if (rowBytes >= LONG_ROW) return;
  const end = at + rowBytes * rows;
  let bits = 0;
  for (; at + 256 <= end; at += 256)
    bits |= load<u8>(at) | load<u8>(at, 64) | load<u8>(at, 128) | load<u8>(at, 192);
  for (; at < end; at += 64) bits |= load<u8>(at);
  sink |= bits;
}
