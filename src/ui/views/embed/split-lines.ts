import { MAX_TEXTS } from '../../../client/index.ts';

/** The lines that hold something, without the spaces around them. Those beyond `MAX_TEXTS` are counted, not taken. */
export function splitLines(text: string): { readonly lines: readonly string[]; readonly numLeftOut: number } {
  const lines = text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return { lines: lines.slice(0, MAX_TEXTS), numLeftOut: Math.max(0, lines.length - MAX_TEXTS) };
}
