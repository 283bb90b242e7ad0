import type { Value } from '../../models/program/program.ts';
import type { KvPlace } from '../memory/state-rows.ts';
import type { Place } from './buffers.ts';
import type { Compiler, OpOf } from './compiler.ts';
import { wantedOf, type Pass, type Span } from './pass.ts';

/** Multiplications that one call makes at most: about a millisecond. */
const MAX_PRODUCTS = 2 ** 22;

/** Queries that kernels compute together. */
const TILE = 4;
const LEAST_OF_TILE = 3;

/** Where keys and values of a sequence lie, from its first token on. Strides in float32 values. */
interface Sequence extends KvPlace {
  readonly positionStride: number;
}

/** Consecutive tokens of a span. */
interface Run {
  readonly span: Span;
  /** In the buffer of queries. */
  readonly row: number;
  /** In the span. */
  readonly first: number;
  readonly num: number;
}

/** Consecutive queries. */
interface Queries {
  readonly row: number;
  readonly num: number;
  /** Positions before them. */
  readonly past: number;
}

/** Attention over the cache, which takes the tokens of the pass first, or over the tokens of a text where they lie. */
export function compileAttend(op: OpOf<'attend'>, to: Compiler): void {
  const attention = new Attention(op, to);
  to.add((pass) => attention.run(pass));
}

class Attention {
  readonly #op: OpOf<'attend'>;
  readonly #to: Compiler;
  readonly #query: Place;
  readonly #key: Place;
  readonly #value: Place;
  readonly #output: Place;
  readonly #layer: number;
  /** Whether no layer before attends to the same keys. */
  readonly #isFirst: boolean;
  /** Whether what other tokens attend to isn't wanted. */
  readonly #isOfWanted: boolean;
  /** Whether wanted tokens have rows of their own. */
  readonly #isNarrow: boolean;

  constructor(op: OpOf<'attend'>, to: Compiler) {
    const [query, key, value] = op.inputs;
    this.#op = op;
    this.#to = to;
    this.#query = to.buffers.placeOf(query);
    [this.#key, this.#value] = alike(key, value, to);
    this.#output = to.buffers.place(op.outputs[0]);
    this.#isFirst = !to.layers.has(key);
    this.#layer = to.layerOf(key);
    this.#isNarrow = to.isNarrow;
    this.#isOfWanted = to.isNarrow || to.lastOfAll === op;
  }

  *run(pass: Pass): Iterable<void> {
    if (this.#isFirst) this.#store(pass);
    for (const run of this.#runsOf(pass)) {
      const sequence = this.#sequenceOf(pass, run.span);
      for (const queries of this.#split(run)) {
        this.#attend(queries, sequence);
        yield;
      }
    }
  }

  *#runsOf(pass: Pass): Iterable<Run> {
    if (!this.#isOfWanted)
      for (const span of pass.spans) yield { span, row: span.start, first: 0, num: span.numTokens };
    else
      for (const { span, row, tokens } of wantedOf(pass))
        for (let from = 0, num = 0; from < tokens.length; from += num) {
          const token = tokens[from] ?? 0;
          num = 1;
          while (tokens[from + num] === token + num) num += 1;
          yield { span, row: this.#isNarrow ? row + from : token, first: token - span.start, num };
        }
  }

  #store({ spans, state }: Pass): void {
    if (!state) return;
    const { kernels } = this.#to;
    const { numKvHeads, headSize } = this.#op.heads;
    for (const { row, start, numTokens, position } of spans) {
      const { keys, values, headStride } = state.placeOf(this.#layer, row);
      const first = 4 * position * headSize;
      const shape = [headStride, headSize, numTokens, numKvHeads, headSize] as const;
      kernels.storeHeads(this.#to.at(this.#key, start), this.#key.stride, keys + first, ...shape);
      kernels.storeHeads(this.#to.at(this.#value, start), this.#value.stride, values + first, ...shape);
    }
  }

  #sequenceOf({ state }: Pass, { row, start }: Span): Sequence {
    const { headSize } = this.#op.heads;
    if (state) return { ...state.placeOf(this.#layer, row), positionStride: headSize };
    return {
      keys: this.#to.at(this.#key, start),
      values: this.#to.at(this.#value, start),
      headStride: headSize,
      positionStride: this.#key.stride,
    };
  }

  *#split({ span: { position, numTokens }, row, first, num: numQueries }: Run): Iterable<Queries> {
    const length = position + numTokens;
    const { isCausal, heads, inputs } = this.#op;
    const [query] = inputs;
    const size = TILE * Math.max(1, Math.floor(MAX_PRODUCTS / (TILE * 2 * length * query.width)));
    // One or two tokens of a head make no tile. The heads of a token that share keys may.
    const areAlone = heads.numHeads >= LEAST_OF_TILE * heads.numKvHeads;
    for (let done = 0, num = 0; done < numQueries; done += num) {
      const rest = numQueries - done;
      const whole = rest < TILE ? rest : rest - (rest % TILE);
      num = areAlone && rest < LEAST_OF_TILE ? 1 : Math.min(size, whole);
      yield { row: row + done, num, past: isCausal ? position + first + done : length - num };
    }
  }

  #attend({ row, num, past }: Queries, { keys, values, headStride, positionStride }: Sequence): void {
    const { heads, scale, window = 0, isCausal } = this.#op;
    const { numHeads, numKvHeads, headSize } = heads;
    const noSoftcap = 0;
    this.#to.kernels.attend(
      this.#to.at(this.#query, row),
      this.#query.stride,
      keys,
      values,
      headStride,
      positionStride,
      this.#to.at(this.#output, row),
      this.#output.stride,
      this.#to.attentionScratch.address,
      num,
      past,
      numHeads,
      numKvHeads,
      headSize,
      0,
      numHeads,
      scale,
      window,
      noSoftcap,
      isCausal ? 1 : 0,
    );
  }
}

/** Keys and values in rows of one length, as kernels read them: copies where an operation has left them in others. */
function alike(key: Value, value: Value, to: Compiler): readonly [Place, Place] {
  const places = [to.buffers.placeOf(key), to.buffers.placeOf(value)] as const;
  if (places[0].stride === places[1].stride) return places;
  const copy = (form: Value, from: Place): Place =>
    to.buffers.formOf(form, 'rows of its own', form.width, (place) => to.copy(form, from, place));
  return [copy(key, places[0]), copy(value, places[1])];
}
