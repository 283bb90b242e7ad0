import type { LoadedModel } from '../../runtime/loaded-model.ts';

/** The tokenizer and the sizes that shapes depend on. */
export type ShapedModel = Pick<LoadedModel, 'config' | 'tokenizer'>;

/** Tokens that are read without letting the worker do other things. */
const TOKENS_PER_PIECE = 4096;
const NODES_PER_PIECE = 32_768;

/** The tokens of a vocabulary by their bytes. A node's descendants follow it, and node 0 is the root. */
export interface TokenTrie {
  readonly bytes: Uint8Array;
  readonly depths: Uint16Array;
  /** Behind the last descendant. */
  readonly ends: Int32Array;
  /** The token that ends at a node; -1 for none. */
  readonly tokens: Int32Array;
  /** Another token of the same bytes; -1 for none. */
  readonly twins: Int32Array;
  /** Whether each byte is a token: what has begun can be ended. */
  readonly isComplete: boolean;
}

/** Yields between pieces of some thousand tokens. End tokens and special ones are in no text. */
export function* createTokenTrie({ config, tokenizer }: ShapedModel): Generator<void, TokenTrie> {
  const nodes = new LinkedNodes();
  const twins = new Int32Array(config.vocabSize).fill(-1);
  const endTokenIds = new Set(config.eosTokenIds);
  for (let id = 0; id < config.vocabSize; id += 1) {
    const bytes = endTokenIds.has(id) ? undefined : tokenizer.vocabulary.bytesOf(id);
    if (bytes && bytes.length > 0) twins[id] = nodes.add(bytes, id);
    if (id % TOKENS_PER_PIECE === TOKENS_PER_PIECE - 1) yield;
  }
  const inOrder = yield* nodes.inOrder();
  return { ...inOrder, twins, isComplete: nodes.hasAllBytes() };
}

/** As they are added. */
class LinkedNodes {
  readonly #bytes = [0];
  readonly #tokens = [-1];
  readonly #children = [-1];
  readonly #siblings = [-1];
  /** The child of a node and a byte. */
  readonly #byByte = new Map<number, number>();

  /** Returns the token that had the same bytes, or -1. */
  add(bytes: Uint8Array, tokenId: number): number {
    let node = 0;
    for (const byte of bytes) node = this.#childOf(node, byte);
    const twin = this.#tokens[node] ?? -1;
    this.#tokens[node] = tokenId;
    return twin;
  }

  hasAllBytes(): boolean {
    let count = 0;
    for (let node = this.#children[0] ?? -1; node >= 0; node = this.#siblings[node] ?? -1)
      if ((this.#tokens[node] ?? -1) >= 0) count += 1;
    return count === 256;
  }

  #childOf(parent: number, byte: number): number {
    const key = parent * 256 + byte;
    const known = this.#byByte.get(key);
    if (known !== undefined) return known;
    const node = this.#bytes.push(byte) - 1;
    this.#byByte.set(key, node);
    this.#tokens.push(-1);
    this.#children.push(-1);
    this.#siblings.push(this.#children[parent] ?? -1);
    this.#children[parent] = node;
    return node;
  }

  *inOrder(): Generator<void, Pick<TokenTrie, 'bytes' | 'depths' | 'ends' | 'tokens'>> {
    const size = this.#bytes.length;
    const bytes = new Uint8Array(size);
    const depths = new Uint16Array(size);
    const ends = new Int32Array(size);
    const tokens = new Int32Array(size);
    /** The place of each node on the way to this one. */
    const path: number[] = [];
    const waiting = [0];
    const depthsOfWaiting = [0];
    for (let place = 0; place < size; place += 1) {
      const node = waiting.pop() ?? 0;
      const depth = depthsOfWaiting.pop() ?? 0;
      while (path.length > depth) ends[path.pop() ?? 0] = place;
      path.push(place);
      bytes[place] = this.#bytes[node] ?? 0;
      depths[place] = depth;
      tokens[place] = this.#tokens[node] ?? -1;
      for (let child = this.#children[node] ?? -1; child >= 0; child = this.#siblings[child] ?? -1) {
        waiting.push(child);
        depthsOfWaiting.push(depth + 1);
      }
      if (place % NODES_PER_PIECE === 0) yield;
    }
    for (const place of path) ends[place] = size;
    return { bytes, depths, ends, tokens };
  }
}
