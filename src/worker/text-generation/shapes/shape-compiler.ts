import type { ResponseFormat } from '../../../batching/options/response-format.ts';
import { writeOrderedJson } from '../../../batching/base/ordered-json.ts';
import { inPieces } from '../../../platform/in-pieces.ts';
import { Expressions } from './expressions.ts';
import { JsonLanguage } from './json-language.ts';
import { inTurns, type Work } from './pace.ts';
import { shapeLanguage } from './shape-language.ts';
import { States, type State } from './states.ts';
import { TokenMasks } from './token-masks.ts';
import { createTokenTrie, type ShapedModel, type TokenTrie } from './token-trie.ts';

/** Compiled shapes that are kept for the next request. */
const MAX_COMPILED = 32;

/** Expressions, states and what links them, of all shapes together: some 150 MB. */
const MAX_SIZE = 400_000;

/** Ways of all their states: some 100 MB. */
const MAX_WAYS_KEPT = 2_000_000;

/** Shared by all shapes: compiled parts, and the tokens that fit them. */
export class ShapeRoom {
  readonly states = new States(new Expressions());
  readonly json = new JsonLanguage(this.states);
  readonly masks: TokenMasks;

  constructor(trie: TokenTrie, model: ShapedModel) {
    this.masks = new TokenMasks(this.states, trie, model);
  }
}

/** A shape that is ready to be followed. */
export interface CompiledShape {
  readonly room: ShapeRoom;
  readonly start: State;
}

/** Compiles shapes for one vocabulary, each once, in pieces that let the worker do other things. */
export class ShapeCompiler {
  readonly model: ShapedModel;
  readonly #trie: TokenTrie;
  /** By their JSON. Least recently used first. */
  readonly #compiled = new Map<string, Promise<CompiledShape>>();
  #room: ShapeRoom;

  static async create(model: ShapedModel): Promise<ShapeCompiler> {
    return new ShapeCompiler(model, await inPieces(createTokenTrie(model)));
  }

  private constructor(model: ShapedModel, trie: TokenTrie) {
    this.model = model;
    this.#trie = trie;
    this.#room = new ShapeRoom(trie, model);
  }

  /** @throws ResponseFormatUnsupportedError. */
  async compile(format: ResponseFormat): Promise<CompiledShape> {
    const key = writeOrderedJson({ ...format, prefix: undefined }) ?? '';
    const compiled = this.#compiled.get(key) ?? inTurns(this.#compile(format));
    this.#compiled.delete(key);
    this.#compiled.set(key, compiled);
    const [oldest = key] = this.#compiled.keys();
    if (this.#compiled.size > MAX_COMPILED) this.#compiled.delete(oldest);
    try {
      return await compiled;
    } catch (error) {
      this.#compiled.delete(key);
      throw error;
    }
  }

  *#compile(format: ResponseFormat): Work<CompiledShape> {
    const { size, numWaysKept } = this.#room.states;
    if (size > MAX_SIZE || numWaysKept > MAX_WAYS_KEPT) {
      // Texts under way keep theirs.
      this.#room = new ShapeRoom(this.#trie, this.model);
      this.#compiled.clear();
    }
    const room = this.#room;
    room.states.make.startShape();
    const language = yield* shapeLanguage(format, room.json);
    return { room, start: room.states.stateOf(language) };
  }
}
