import { getDefaults, Lexer, Tokenizer, type Token, type Tokens, type TokensList } from 'marked';

/** The deepest nesting of blocks, and of inline parts. Deeper text is shown as it is: models do repeat `> > >`. */
const MAX_DEPTH = 12;

/** Characters of a paragraph or a quote that are lexed together: marked takes quadratic time for some, such as `a*a*a*`. */
const MAX_TOGETHER = 2048;

/** Characters of the last blocks that are lexed again with each piece of a text. Longer ones are lexed again once they have grown by an eighth. */
const ALWAYS_LEXED = 4096;

/** The change of the blocks since they were last read. */
export interface BlockGrowth {
  /** They stay as they are, whatever follows. */
  readonly finished: readonly Token[];
  /** The last blocks, which the next text may still change. */
  readonly last: readonly Token[];
}

/** Reads a growing text in Markdown, in time that is linear in the text. */
export class MarkdownBlocks {
  /** The length of the text in finished blocks. */
  #finishedLength = 0;
  #readLength = 0;

  /**
   * @param text Begins with the one before.
   * @param isWhole Nothing follows.
   * @returns Undefined where the new text is to be shown behind the last block, as it is.
   */
  grow(text: string, isWhole: boolean): BlockGrowth | undefined {
    const numUnread = text.length - this.#readLength;
    const length = text.length - this.#finishedLength;
    if (!isWhole && length > ALWAYS_LEXED && numUnread * 8 < length) return undefined;
    this.#readLength = text.length;
    const blocks = new BoundedLexer().lex(text.slice(this.#finishedLength));
    const lastIndex = indexOfLast(blocks);
    const finished = blocks.slice(0, lastIndex);
    const finishedText = finished.map(({ raw }) => raw).join('');
    // The lexer replaces carriage returns: then nothing counts as finished.
    if (!text.startsWith(finishedText, this.#finishedLength)) return { finished: [], last: blocks };
    this.#finishedLength += finishedText.length;
    return { finished, last: blocks.slice(lastIndex) };
  }
}

/** Two blocks may still change: a list that goes on behind an empty line has a paragraph after it until its next mark is whole. */
function indexOfLast(blocks: readonly Token[]): number {
  const last = blocks.findLastIndex(({ type }) => type !== 'space');
  return Math.max(
    0,
    blocks.slice(0, Math.max(0, last)).findLastIndex(({ type }) => type !== 'space'),
  );
}

/** Lexes any text in linear time, with a stack of bounded depth. */
class BoundedLexer extends Lexer {
  #depth = 0;

  constructor() {
    super({ ...getDefaults(), tokenizer: new BoundedTokenizer() });
  }

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(source: string, tokens: Token[] = [], isClipped?: boolean): Token[] {
    return this.#within(source, tokens, () => super.blockTokens(source, tokens, isClipped));
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    return this.#within(source, tokens, () => {
      for (const part of partsOf(source)) super.inlineTokens(part, tokens);
      return tokens;
    });
  }

  #within(source: string, tokens: Token[], lex: () => Token[]): Token[] {
    if (this.#depth === MAX_DEPTH) {
      tokens.push({ type: 'text', raw: source, text: source });
      return tokens;
    }
    this.#depth += 1;
    try {
      return lex();
    } finally {
      this.#depth -= 1;
    }
  }
}

class BoundedTokenizer extends Tokenizer {
  /** Ends a long quote at the end of a line: what comes next is a quote of its own. */
  override blockquote(source: string): Tokens.Blockquote | undefined {
    const lineEnd = source.lastIndexOf('\n', MAX_TOGETHER);
    const end = lineEnd < 0 ? source.indexOf('\n', MAX_TOGETHER) : lineEnd;
    return super.blockquote(end < 0 || source.length <= MAX_TOGETHER ? source : source.slice(0, end + 1));
  }
}

/** Parts end at white space where they can, and never inside a character. */
function partsOf(source: string): readonly string[] {
  const parts: string[] = [];
  let start = 0;
  while (source.length - start > MAX_TOGETHER) {
    const part = source.slice(start, start + MAX_TOGETHER).replace(/(?<=\s)\S{0,256}$|[\uD800-\uDBFF]$/u, '');
    parts.push(part);
    start += part.length;
  }
  return [...parts, source.slice(start)];
}
