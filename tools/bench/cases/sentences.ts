import reference from '../../reference/fixtures/minilm-reference.json' with { type: 'json' };

const WORDS = reference.texts.flatMap((text) => text.split(' '));

/** Spreads numbers evenly, however many there are. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;
const FEWEST_WORDS = 2;
const MOST_WORDS = 24;

/** Texts of mixed length in no order: most are short, as sentences are, and a few long. Always the same ones. */
export function sentences(count: number): readonly string[] {
  let start = 0;
  return Array.from({ length: count }, (_, index) => {
    const share = ((index + 1) * GOLDEN_RATIO) % 1;
    const length = FEWEST_WORDS + Math.floor((MOST_WORDS - FEWEST_WORDS + 1) * share ** 3);
    const words = Array.from({ length }, (_word, at) => WORDS[(start + at) % WORDS.length]);
    start += length;
    return words.join(' ');
  });
}
