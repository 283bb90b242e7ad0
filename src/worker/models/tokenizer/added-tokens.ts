import * as v from 'valibot';

import { RUST_WORD, SPACE, asInUnicode16 } from './characters.ts';
import type { Normalize } from './normalizers.ts';
import type { TokenIds } from './subword-model.ts';
import { corruptTokenizer } from './tokenizer-parts.ts';

const flag = v.nullish(v.boolean(), false);
const given = v.object({
  id: v.number(),
  content: v.string(),
  single_word: flag,
  lstrip: flag,
  rstrip: flag,
  special: flag,
  normalized: v.nullish(v.boolean()),
});

/** A token that is found in a text before anything else is done to it. */
export interface AddedToken extends Omit<v.InferOutput<typeof given>, 'normalized'> {
  /** Whether it is looked for in the normalized text. */
  readonly isNormalized: boolean;
  /** The text to find: its content, normalized or not. It also decodes to this. */
  readonly text: string;
}

/**
 * The added tokens of a `tokenizer.json`. Their ids are those of the vocabulary, or follow its last ones: what the file says is
 * not read, as in `tokenizers`.
 *
 * @throws ModelFileCorruptError
 */
export function readAddedTokens(list: unknown, vocab: TokenIds, normalize: Normalize): readonly AddedToken[] {
  const parsed = v.safeParse(v.array(given), list ?? []);
  if (!parsed.success) throw corruptTokenizer('its added tokens do not map tokens to ids');
  const tokens = new Map<string, AddedToken>();
  let nextId = vocab.size;
  for (const { normalized, ...token } of parsed.output) {
    const { content, special } = token;
    if (content === '') continue;
    const id = tokens.get(content)?.id ?? vocab.get(content) ?? nextId++;
    const isNormalized = normalized ?? !special;
    tokens.set(content, { ...token, id, isNormalized, text: isNormalized ? normalize(content) : content });
  }
  return [...tokens.values()];
}

/** A part of a text: an added token's id, or what lies between two. */
export interface Section {
  readonly start: number;
  readonly text: string;
  readonly id?: number;
}

/** A token, or a step on the way to some, by the next UTF-16 unit. */
interface Node {
  token?: AddedToken;
  readonly next: Map<number, Node>;
}

const ENDS_WITH_WORD = new RegExp(`${RUST_WORD}$`, 'u');
const STARTS_WITH_WORD = new RegExp(`^${RUST_WORD}`, 'u');
const IS_SPACE = new RegExp(SPACE, 'u');

/** Finds added tokens in a text: the leftmost first, of those the longest. */
export class AddedTokenSplitter {
  readonly #root: Node = { next: new Map() };

  /** @throws ModelFileCorruptError for two tokens that are the same text. */
  constructor(tokens: readonly AddedToken[]) {
    for (const token of tokens) this.#add(token);
  }

  split(text: string): readonly Section[] {
    if (text === '') return [];
    if (this.#root.next.size === 0) return [{ start: 0, text }];
    const sections: Section[] = [];
    let last = 0;
    for (const { token, start: found } of this.#find(text)) {
      let [start, end] = [found, found + token.text.length];
      if (token.single_word && !isApart(text, start, end)) continue;
      // Spaces that the token before has taken stay with it.
      if (token.lstrip) start = Math.max(startOfSpaces(text, start), last);
      if (token.rstrip) end = endOfSpaces(text, end);
      if (last < start) sections.push({ start: last, text: text.slice(last, start) });
      sections.push({ start, text: '', id: token.id });
      last = end;
    }
    if (last < text.length) sections.push({ start: last, text: text.slice(last) });
    return sections;
  }

  #add(token: AddedToken): void {
    let node = this.#root;
    for (let i = 0; i < token.text.length; i++) {
      const unit = token.text.charCodeAt(i);
      const next: Node = node.next.get(unit) ?? { next: new Map() };
      node.next.set(unit, next);
      node = next;
    }
    if (node === this.#root) throw corruptTokenizer(`nothing is left of its added token ${token.content}`);
    if (node.token)
      throw corruptTokenizer(`its added tokens ${node.token.content} and ${token.content} are the same`);
    node.token = token;
  }

  *#find(text: string): Generator<{ readonly token: AddedToken; readonly start: number }> {
    for (let start = 0; start < text.length;) {
      let longest: AddedToken | undefined;
      let node = this.#root.next.get(text.charCodeAt(start));
      for (let at = start + 1; node; at++) {
        longest = node.token ?? longest;
        node = node.next.get(text.charCodeAt(at));
      }
      if (longest) yield { token: longest, start };
      start += longest?.text.length ?? 1;
    }
  }
}

function isApart(text: string, start: number, end: number): boolean {
  // Two units hold the character beside it.
  const before = asInUnicode16(text.slice(Math.max(0, start - 2), start));
  const after = asInUnicode16(text.slice(end, end + 2));
  return !ENDS_WITH_WORD.test(before) && !STARTS_WITH_WORD.test(after);
}

function startOfSpaces(text: string, end: number): number {
  let start = end;
  while (start > 0 && IS_SPACE.test(text.charAt(start - 1))) start--;
  return start;
}

function endOfSpaces(text: string, start: number): number {
  let end = start;
  while (end < text.length && IS_SPACE.test(text.charAt(end))) end++;
  return end;
}
