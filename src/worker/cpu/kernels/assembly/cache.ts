/** Bytes of weights that stay in the second cache while rows pass by. */
const BLOCK_BYTES: usize = 131072;

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
 * Reads one byte of each line. A product waits for each line of short rows: its own instructions fill the window in which a processor
 * looks ahead for loads. Here are no others, so that as many are under way as it can have. Twice as fast or more for one row.
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
