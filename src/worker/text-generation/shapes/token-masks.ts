import { allowToken, emptyMask, forbidToken, type TokenMask } from '../../../batching/sampling/token-mask.ts';
import type { Expression, Repeat } from './expressions.ts';
import type { Work } from './pace.ts';
import type { Rest, State, States } from './states.ts';
import type { ShapedModel, TokenTrie } from './token-trie.ts';

/** Masks that are kept: 10 MB for 150,000 tokens. */
const MAX_MASKS = 512;

const NODES_PER_PART = 1024;
const WAYS_PER_PART = 2048;

/** The tokens of one kind of character alone, and where other tokens leave it. */
interface CharacterTokens {
  readonly mask: TokenMask;
  /** Nodes of tokens by the characters that they have, or begin. */
  readonly byCount: readonly (readonly number[])[];
  /** By their byte: nodes that no such character begins with, behind `counts` whole ones. */
  readonly exits: ReadonlyMap<
    number,
    { readonly nodes: readonly number[]; readonly counts: readonly number[] }
  >;
}

/** The tokens that may follow in the states of shapes. */
export class TokenMasks {
  readonly #states: States;
  readonly #trie: TokenTrie;
  readonly #model: ShapedModel;
  readonly #characters = new Map<Expression, CharacterTokens>();
  #masked: State[] = [];

  constructor(states: States, trie: TokenTrie, model: ShapedModel) {
    this.#states = states;
    this.#trie = trie;
    this.#model = model;
  }

  *maskOf(state: State): Work<TokenMask> {
    if (state.mask) return state.mask;
    const { vocabSize, eosTokenIds } = this.#model.config;
    const counted = this.#countedIn(state);
    const mask = counted ? yield* this.#maskOfCounted(counted.head, counted.tail) : emptyMask(vocabSize);
    if (!counted) yield* this.#walk(state, 0, mask);
    if (state.isEnd) for (const tokenId of eosTokenIds) allowToken(mask, tokenId);
    if (this.#masked.length >= MAX_MASKS) this.#forget();
    this.#masked.push(state);
    state.mask = mask;
    return mask;
  }

  #forget(): void {
    for (const state of this.#masked) state.mask = undefined;
    this.#masked = [];
  }

  /** A state between the characters of a text that something else must follow, as most are in strings. */
  #countedIn({ rests: [rest, ...others] }: State): { head: Repeat; tail: Rest } | undefined {
    if (!rest || others.length > 0) return undefined;
    const { head, tail } = rest;
    if (head.kind !== 'repeat' || !tail || !this.#states.make.characters.has(head.part)) return undefined;
    const [inside, behind] = [this.#betweenAny(head.part), this.#states.stateAt([tail])];
    for (let byte = 0; byte < 256; byte += 1)
      if (this.#states.step(inside, byte) && this.#states.step(behind, byte)) return undefined;
    return { head, tail };
  }

  #betweenAny(character: Expression): State {
    return this.#states.stateOf(this.#states.make.repeat(character, 0, Infinity));
  }

  *#maskOfCounted({ part, min, max }: Repeat, tail: Rest): Work<TokenMask> {
    const { mask: whole, byCount, exits } = yield* this.#tokensOf(part);
    const mask = whole.slice();
    for (let count = byCount.length - 1; count > max; count -= 1)
      for (const node of byCount[count] ?? []) this.#forbid(node, mask);
    const behind = this.#states.stateAt([tail]);
    for (const [byte, { nodes, counts }] of exits) {
      const left = this.#states.step(behind, byte);
      if (!left) continue;
      for (let index = 0; index < nodes.length; index += 1) {
        const [node = 0, count = 0] = [nodes[index], counts[index]];
        if (count < min || count > max) continue;
        this.#allow(node, left, mask);
        if ((this.#trie.ends[node] ?? 0) <= node + 1) continue;
        yield* this.#walk(left, node, mask);
        yield;
      }
    }
    return mask;
  }

  *#tokensOf(character: Expression): Work<CharacterTokens> {
    const known = this.#characters.get(character);
    if (known) return known;
    const { bytes, depths, ends, tokens } = this.#trie;
    const between = this.#betweenAny(character);
    const mask = emptyMask(this.#model.config.vocabSize);
    const byCount: number[][] = [];
    const exits = new Map<number, { nodes: number[]; counts: number[] }>();
    const path = [between];
    const counts = [0];
    for (let node = 1, numSeen = 1; node < bytes.length; numSeen += 1) {
      if (numSeen % NODES_PER_PART === 0) yield;
      const depth = depths[node] ?? 0;
      const state = path[depth - 1] ?? between;
      const count = counts[depth - 1] ?? 0;
      const byte = bytes[node] ?? 0;
      const next = this.#states.step(state, byte);
      if (next) {
        path[depth] = next;
        const further = state === between ? count + 1 : count;
        counts[depth] = further;
        if ((tokens[node] ?? -1) >= 0 && this.#allow(node, next, mask)) (byCount[further] ??= []).push(node);
        node += 1;
        continue;
      }
      if (state === between) {
        const ofByte = exits.get(byte) ?? { nodes: [], counts: [] };
        exits.set(byte, ofByte);
        ofByte.nodes.push(node);
        ofByte.counts.push(count);
      }
      node = ends[node] ?? 0;
    }
    const found = { mask, byCount, exits };
    this.#characters.set(character, found);
    return found;
  }

  /** Allows the tokens below a node, which a text in a state comes to. */
  *#walk(state: State, top: number, mask: TokenMask): Work<void> {
    const { bytes, depths, ends, tokens } = this.#trie;
    const states = this.#states;
    const path: State[] = [];
    path[depths[top] ?? 0] = state;
    const end = ends[top] ?? 0;
    let nextPart = top + NODES_PER_PART;
    let numWays = states.numWaysSeen + WAYS_PER_PART;
    for (let node = top + 1; node < end;) {
      if (node >= nextPart || states.numWaysSeen >= numWays) {
        yield;
        nextPart = node + NODES_PER_PART;
        numWays = states.numWaysSeen + WAYS_PER_PART;
      }
      const depth = depths[node] ?? 0;
      const before = path[depth - 1];
      const next = before && states.step(before, bytes[node] ?? 0);
      if (!next) {
        node = ends[node] ?? 0;
        continue;
      }
      path[depth] = next;
      if ((tokens[node] ?? -1) >= 0) this.#allow(node, next, mask);
      node += 1;
    }
  }

  #allow(node: number, { canPause }: State, mask: TokenMask): boolean {
    if (!canPause && !this.#trie.isComplete) return false;
    const { tokens, twins } = this.#trie;
    for (let tokenId = tokens[node] ?? -1; tokenId >= 0; tokenId = twins[tokenId] ?? -1)
      allowToken(mask, tokenId);
    return true;
  }

  #forbid(node: number, mask: TokenMask): void {
    const { tokens, twins } = this.#trie;
    for (let tokenId = tokens[node] ?? -1; tokenId >= 0; tokenId = twins[tokenId] ?? -1)
      forbidToken(mask, tokenId);
  }
}
