/** Columns that are moved together, so that a line of the CPU's cache is read once. */
const TILE = 16;

/** Writes a matrix [in, out] of a `conv1d` as [out, in]. */
export function placeTransposed(
  bytes: Uint8Array,
  [numInputs = 0, numOutputs = 0]: readonly number[],
  target: Float32Array,
): void {
  const values = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  for (let first = 0; first < numOutputs; first += TILE) {
    const end = Math.min(numOutputs, first + TILE);
    for (let input = 0; input < numInputs; input++)
      for (let output = first; output < end; output++)
        target[output * numInputs + input] = values[input * numOutputs + output] ?? 0;
  }
}
