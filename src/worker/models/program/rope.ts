/** How far each pair of a head's values turns from one position to the next, in radians. */
export interface Rope {
  /** One for each pair: half as many as a head has values, or fewer if only its first values turn. */
  readonly frequencies: readonly number[];
  /** Longest sequence that turns so, in tokens; none where left out. */
  readonly maxLength?: number;
  /** Factor of the cosines and sines. */
  readonly attentionFactor: number;
}

/** @returns [numPositions, pairs] each. */
export function rotaryTables(
  { frequencies, attentionFactor }: Rope,
  numPositions: number,
): { readonly cos: Float32Array<ArrayBuffer>; readonly sin: Float32Array<ArrayBuffer> } {
  const cos = new Float32Array(numPositions * frequencies.length);
  const sin = new Float32Array(numPositions * frequencies.length);
  let at = 0;
  for (let position = 0; position < numPositions; position++) {
    for (const frequency of frequencies) {
      const angle = Math.fround(position * frequency);
      cos[at] = attentionFactor * Math.cos(angle);
      sin[at] = attentionFactor * Math.sin(angle);
      at += 1;
    }
  }
  return { cos, sin };
}
