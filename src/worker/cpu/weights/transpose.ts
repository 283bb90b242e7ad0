/** Columns that are moved together, so that a line of the CPU's cache is read once. */
const TILE = 16;

/** Some inputs of a matrix. */
interface Inputs {
  /** [in, out] */
  readonly shape: readonly number[];
  readonly firstInput: number;
  readonly numInputs: number;
}

/** Writes rows of a matrix [in, out] of a `conv1d` as columns of [out, in]. */
export function placeTransposed(
  bytes: Uint8Array<ArrayBuffer>,
  { shape: [allInputs = 0, numOutputs = 0], firstInput, numInputs }: Inputs,
  target: Float32Array,
): void {
  const values = new Float32Array(bytes.buffer, bytes.byteOffset, numInputs * numOutputs);
  for (let first = 0; first < numOutputs; first += TILE) {
    const end = Math.min(numOutputs, first + TILE);
    for (let input = 0; input < numInputs; input++)
      for (let output = first; output < end; output++)
        target[output * allInputs + firstInput + input] = values[input * numOutputs + output] ?? 0;
  }
}
