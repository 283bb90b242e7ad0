import { words } from '../model/topics.json';

const UNKNOWN_ID = 1;
const IDS = new Map(words.map((word, index) => [word, index + 2]));

/** The ids of a text's words, as the model reads them. */
export function idsOf(text: string): readonly number[] {
  const parts = text.toLowerCase().match(/\S+/g) ?? [];
  return parts.map((word) => IDS.get(word) ?? UNKNOWN_ID);
}

/** Ones for a text's own ids; what is padded after them is 0. */
export function maskOf(ids: readonly number[]): readonly number[] {
  return ids.map(() => 1);
}
