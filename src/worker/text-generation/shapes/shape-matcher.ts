import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import { prefixOf, type ResponseFormat } from '../../../batching/options/response-format.ts';
import type { Lookahead, TokenConstraint } from '../../../batching/generation/request.ts';
import { allowToken, emptyMask, type TokenMask } from '../../../batching/sampling/token-mask.ts';
import { inTurns, paced, type Work } from './pace.ts';
import type { CompiledShape } from './shape-compiler.ts';
import type { State } from './states.ts';
import type { ShapedModel } from './token-trie.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Bytes of the only text that can follow, which are looked for at once. */
const MAX_FORCED = 1024;

/** The most time for one row: the others of its batch wait meanwhile. */
const AT_ONCE_MS = 1;

/** Ways that are kept for one text: some 500 MB. */
const MAX_WAYS_KEPT = 10_000_000;

/** Behind some tokens of a text. */
interface Reached {
  readonly state: State;
  readonly forced: readonly number[];
}

/** With what may follow there. */
interface Place extends Reached {
  readonly mask: TokenMask;
  /** Whether only the end may follow. */
  readonly isOver: boolean;
}

/** Follows one text through a shape. */
export class ShapeMatcher implements TokenConstraint {
  readonly #shape: CompiledShape;
  readonly #model: ShapedModel;
  #place: Place;
  #numWaysKept = 0;

  /**
   * @param format What the shape is of.
   * @param prior Tokens that it has accepted already.
   * @throws ResponseFormatUnsupportedError if the shape has no text with this beginning.
   */
  static async create(
    shape: CompiledShape,
    model: ShapedModel,
    format: ResponseFormat,
    prior: readonly number[] = [],
  ): Promise<ShapeMatcher> {
    const matcher = new ShapeMatcher(shape, model);
    const prefix = format.type.startsWith('json') ? withOurSpaces(prefixOf(format)) : prefixOf(format);
    await inTurns(matcher.#bounded(matcher.#begin(prefix, prior)));
    return matcher;
  }

  private constructor(shape: CompiledShape, model: ShapedModel) {
    this.#shape = shape;
    this.#model = model;
    this.#place = { state: shape.start, forced: [], mask: new Uint32Array(), isOver: false };
  }

  mask(): TokenMask {
    return this.#place.mask;
  }

  forced(): readonly number[] {
    return this.#place.forced;
  }

  ahead(): Lookahead {
    return this.#aheadOf(this.#place);
  }

  #aheadOf(place: Place): Lookahead {
    const after = (tokenId: number): Lookahead | undefined => {
      const next = this.#guess(place, tokenId);
      return next && !next.isOver ? this.#aheadOf(next) : undefined;
    };
    return { mask: place.mask, forced: place.forced[0], after };
  }

  /** Undefined if it takes long or fails: a text that comes there then fails by itself. */
  #guess(place: Place, tokenId: number): Place | undefined {
    try {
      const first = paced(this.#placeBehind(place, tokenId), AT_ONCE_MS).next();
      return first.done ? first.value : undefined;
    } catch {
      return undefined;
    }
  }

  accept(tokenId: number): boolean | Promise<boolean> {
    const work = this.#bounded(this.#follow(tokenId));
    const first = paced(work, AT_ONCE_MS).next();
    return first.done ? first.value : inTurns(work);
  }

  /** Others keep ways meanwhile, which aren't counted. */
  *#bounded<Result>(work: Work<Result>): Work<Result> {
    const { states } = this.#shape.room;
    for (;;) {
      const numBefore = states.numWaysKept;
      const part = work.next();
      this.#numWaysKept += states.numWaysKept - numBefore;
      if (part.done) return part.value;
      if (this.#numWaysKept > MAX_WAYS_KEPT)
        throw ResponseFormatUnsupportedError.of(
          'responseFormat',
          'takes too much memory, since its text can be read in so many ways',
          'write it with smaller counts behind what they may also be',
        );
      yield;
    }
  }

  *#begin(prefix: string, prior: readonly number[]): Work<void> {
    const state = yield* this.#shape.room.states.after(this.#shape.start, encoder.encode(prefix));
    if (!state)
      throw ResponseFormatUnsupportedError.of(
        'responseFormat.prefix',
        'begins no text of this shape',
        'begin as the shape does, or leave the prefix out',
      );
    let reached: Reached = { state, forced: [] };
    for (const tokenId of prior) reached = yield* this.#behind(reached, tokenId);
    this.#place = yield* this.#lookAround(reached);
  }

  *#follow(tokenId: number): Work<boolean> {
    this.#place = yield* this.#placeBehind(this.#place, tokenId);
    return this.#place.isOver;
  }

  *#placeBehind(place: Place, tokenId: number): Work<Place> {
    return yield* this.#lookAround(yield* this.#behind(place, tokenId));
  }

  *#behind({ state, forced }: Reached, tokenId: number): Work<Reached> {
    const bytes = this.#model.tokenizer.vocabulary.bytesOf(tokenId);
    const next = bytes && (yield* this.#shape.room.states.after(state, bytes));
    if (!next) throw new Error(`token ${tokenId} does not fit the shape`);
    return { state: next, forced: tokenId === forced[0] ? forced.slice(1) : [] };
  }

  /** Finds the tokens that may come next. */
  *#lookAround({ state, forced: known }: Reached): Work<Place> {
    const forced = known.length > 0 ? known : yield* this.#findForced(state);
    const [next] = forced;
    if (next === undefined) {
      const mask = yield* this.#shape.room.masks.maskOf(state);
      return { state, forced, mask, isOver: this.#isOver(state, mask) };
    }
    const mask = emptyMask(this.#model.config.vocabSize);
    allowToken(mask, next);
    return { state, forced, mask, isOver: false };
  }

  #isOver(state: State, mask: TokenMask): boolean {
    const { eosTokenIds } = this.#model.config;
    if (mask.some((word, index) => (word & ~endsIn(index, state.isEnd ? eosTokenIds : [])) !== 0))
      return false;
    if (!state.isEnd && eosTokenIds.length > 0)
      throw ResponseFormatUnsupportedError.of(
        'responseFormat',
        "can't be written with the tokens of this model's vocabulary",
        'use other characters',
      );
    return true;
  }

  /**
   * The tokens of the only text that can follow, as the tokenizer spells it; without the last, which might be spelled together with
   * what comes after it. A text always has the same ones, whether they are sampled one by one or computed together.
   */
  *#findForced(from: State): Work<readonly number[]> {
    const { states } = this.#shape.room;
    const forced: number[] = [];
    let state: State | null = from;
    while (state && forced.length < MAX_FORCED) {
      const byte: number | undefined = yield* states.onlyByte(state);
      if (byte === undefined) break;
      forced.push(byte);
      state = yield* states.after(state, [byte]);
    }
    const text = wholeCharacters(Uint8Array.from(forced));
    if (/^[\0-\x7f]?$/.test(text)) return [];
    const { tokenizer } = this.#model;
    const tokenIds = yield* tokenizer.encodeInPieces(text, false);
    const spellings = tokenIds.map((tokenId) => tokenizer.vocabulary.bytesOf(tokenId) ?? new Uint8Array());
    // Some tokenizers put a space before each text.
    const isExact = String(spellings.flatMap((bytes) => [...bytes])) === String([...encoder.encode(text)]);
    if (!isExact) return [];
    // In the middle of a character, no other token fits.
    const isCut = ((spellings.at(-1)?.[0] ?? 0) & 0xc0) === 0x80;
    return tokenIds.slice(0, isCut ? undefined : -1);
  }
}

/** The bits of tokens in one word of a mask. */
function endsIn(index: number, tokenIds: readonly number[]): number {
  return tokenIds.reduce((bits, id) => (id >>> 5 === index ? bits | (1 << (id % 32)) : bits), 0);
}

/** The text of bytes that may end inside a character, without that; '' where they begin inside one. */
function wholeCharacters(bytes: Uint8Array): string {
  for (let cut = 0; cut < 4; cut += 1)
    try {
      return decoder.decode(bytes.subarray(0, bytes.length - cut));
    } catch {
      // One byte less may be whole.
    }
  return '';
}

/** Strings, separators and other white space of JSON that may be cut off. */
const JSON_PARTS = /"(?:[^"\\]|\\[^])*"?|[,:]\s*|\s+/g;

/** The beginning of a JSON text with white space where the grammar has it. */
function withOurSpaces(json: string): string {
  return json.replaceAll(JSON_PARTS, (part, offset) => {
    if (part.startsWith('"')) return part;
    const [separator = ''] = part.trim();
    const isCut = offset + part.length === json.length && part === separator;
    return separator === '' || isCut ? separator : `${separator} `;
  });
}
