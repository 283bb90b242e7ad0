/** Length of a text's feature vector. */
export const NUM_FEATURES = 2048;

const LONGEST_GRAM = 3;

/**
 * The model's input: how often each run of one to three characters occurs in a text, hashed into `NUM_FEATURES` counters.
 * Counts are dampened by a logarithm, and the vector has length 1.
 */
export function featuresOf(text: string): Float32Array {
  const features = new Float32Array(NUM_FEATURES);
  const characters = Array.from(` ${normalize(text)} `);
  for (let length = 1; length <= LONGEST_GRAM; length++) {
    for (let start = 0; start + length <= characters.length; start++) {
      const index = hash(characters.slice(start, start + length).join('')) % NUM_FEATURES;
      features[index] = (features[index] ?? 0) + 1;
    }
  }
  const dampened = features.map((count) => Math.log1p(count));
  const norm = Math.hypot(...dampened);
  return dampened.map((value) => value / norm);
}

/** Lower case, and a single space in place of all that is no letter. */
function normalize(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}]+/gu, ' ')
    .trim();
}

/** FNV-1a, 32 bits. */
function hash(gram: string): number {
  let value = 0x811c9dc5;
  for (const character of gram) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value >>> 0;
}
