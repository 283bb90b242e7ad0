/** The most values that are rotated together: larger rotations cost more than they gain. */
const LARGEST_SIZE = 64;

/** How many values of a row of this length are rotated together: a power of two. */
export function rotationSizeOf(length: number): number {
  // The lowest bit that is set.
  return Math.min(LARGEST_SIZE, length & -length);
}

/**
 * Turns each group of values in place by a Hadamard matrix. A single large value is spread over its group, so that int8 loses less
 * of the others. If both sides of a product are turned, the product stays the same. Twice is the identity.
 */
export function rotate(row: Float32Array): void {
  const size = rotationSizeOf(row.length);
  const factor = 1 / Math.sqrt(size);
  for (let half = 1; half < size; half *= 2)
    for (let first = 0; first < row.length; first += 2 * half)
      for (let i = first; i < first + half; i++) {
        const a = row[i] ?? 0;
        const b = row[i + half] ?? 0;
        row[i] = a + b;
        row[i + half] = a - b;
      }
  for (let i = 0; i < row.length; i++) row[i] = (row[i] ?? 0) * factor;
}
