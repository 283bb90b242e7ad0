import type { Place } from './buffers.ts';
import type { Compiler, OpOf } from './compiler.ts';
import type { Pass } from './pass.ts';

/** Values of matrices that one call changes at most: about a millisecond. */
const MAX_VALUES = 2 ** 21;

/** Linear attention: the tokens of a row change the matrices that it keeps. */
export function compileDeltaRule(op: OpOf<'deltaRule'>, to: Compiler): void {
  const rule = new DeltaRule(op, to);
  to.add((pass) => rule.run(pass));
}

class DeltaRule {
  readonly #op: OpOf<'deltaRule'>;
  readonly #to: Compiler;
  readonly #query: Place;
  readonly #key: Place;
  readonly #value: Place;
  readonly #decay: Place;
  readonly #beta: Place;
  readonly #output: Place;
  readonly #layer: number;

  constructor(op: OpOf<'deltaRule'>, to: Compiler) {
    const [query, key, value, decay, beta] = op.inputs;
    this.#op = op;
    this.#to = to;
    this.#query = to.buffers.placeOf(query);
    this.#key = to.buffers.placeOf(key);
    this.#value = to.buffers.placeOf(value);
    this.#decay = to.buffers.placeOf(decay);
    this.#beta = to.buffers.placeOf(beta);
    if (this.#query.stride !== this.#key.stride || this.#decay.stride !== this.#beta.stride)
      throw new Error(`Inputs of ${op.outputs[0].name} lie in rows of different lengths`);
    this.#output = to.buffers.place(op.outputs[0]);
    this.#layer = to.layerOf(op.outputs[0]);
  }

  *run({ spans, state }: Pass): Iterable<void> {
    if (!state) throw new Error('Whole texts keep no state');
    const { numValueHeads, keySize, valueSize } = this.#op.heads;
    const size = Math.max(1, Math.floor(MAX_VALUES / (numValueHeads * keySize * valueSize)));
    for (const { row, start, numTokens } of spans)
      for (let first = 0; first < numTokens; first += size) {
        this.#update(state.addressOf(this.#layer, row), start + first, Math.min(size, numTokens - first));
        yield;
      }
  }

  #update(state: number, token: number, numTokens: number): void {
    const { heads, weights } = this.#op;
    const { numKeyHeads, numValueHeads, keySize, valueSize } = heads;
    const at = (place: Place): number => this.#to.at(place, token);
    this.#to.kernels.deltaRule(
      at(this.#query),
      at(this.#key),
      at(this.#value),
      this.#key.stride,
      this.#value.stride,
      at(this.#decay),
      at(this.#beta),
      this.#beta.stride,
      this.#to.address(weights[0]),
      this.#to.address(weights[1]),
      state,
      at(this.#output),
      this.#output.stride,
      numTokens,
      numKeyHeads,
      numValueHeads,
      keySize,
      valueSize,
      0,
      numValueHeads,
    );
  }
}
