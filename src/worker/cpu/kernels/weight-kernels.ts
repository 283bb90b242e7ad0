/** A place in the memory of the kernels: bytes from its start. A multiple of 4, except of codes. */
export type Pointer = number;

/** Kernels that convert a model's weights, once, when they have arrived. */
export interface WeightKernels {
  /** sums[o] = Σ codes[o, i], int32, for `multiplyInt8`: once when the weights are there. */
  sumCodes(codes: Pointer, sums: Pointer, outputs: number, inputs: number): void;

  /**
   * Makes codes of a packed file those of `multiplyInt8`, in place: q8 in blocks of 32 becomes int8 with a scale for each row, whose
   * inputs are turned as `rotate` does it.
   *
   * @param blockScales [rows, inputs / 32]
   * @param zeroPoints [rows, inputs / 32] bytes.
   * @param scales A target: [rows]
   * @param sums A target: [rows] int32, as of `sumCodes`.
   * @param inputs A multiple of 32.
   * @param scratch [inputs]
   */
  requantizeRows(
    codes: Pointer,
    blockScales: Pointer,
    zeroPoints: Pointer,
    scales: Pointer,
    sums: Pointer,
    rows: number,
    inputs: number,
    rotation: number,
    scratch: Pointer,
  ): void;
}
