import { DataFlow, keyOf, type Port } from './data-flow.ts';
import type { NamedDispatch } from './named-dispatch.ts';
import { ortProductOf, type OrtProduct } from './ort-product.ts';
import type { ProductActivation } from './product-shader.ts';

/** More rows fill onnxruntime-web's tiles, which read a matrix once for all of them. */
const MAX_ROWS = 8;

/** The sum that onnxruntime-web's norms output beside the normalized values. */
const SUM = 'input_skip_bias_sum';

/** What one dispatch computes in place of several. */
export interface FusedProduct {
  readonly product: OrtProduct;
  /** The dispatch whose place it takes. */
  readonly at: number;
  /** The output that is the input; undefined for one of the pass. */
  readonly input: Port | undefined;
  /** The dispatch that normalizes the input. */
  readonly norm?: NamedDispatch;
  readonly bias: GPUBuffer | undefined;
  readonly activation?: ProductActivation;
  /** Multiplies the activated product. */
  readonly second?: OrtProduct;
  /** What is added, as an input of the dispatch that adds it. */
  readonly residual?: Port;
  readonly output: Port;
}

/** Products of a pass that can be one dispatch with the norm before them, and the activation, the gate or the sum behind them. */
export class FusionPlan {
  readonly flow: DataFlow;
  readonly #all: readonly NamedDispatch[];
  readonly #products: ReadonlyMap<number, OrtProduct>;
  readonly #fused = new Map<OrtProduct, FusedProduct>();
  readonly #removed = new Set<number>();

  constructor(all: readonly NamedDispatch[]) {
    this.#all = all;
    this.flow = new DataFlow(all);
    const products = all.flatMap((dispatch, at) => ortProductOf(dispatch, at) ?? []);
    this.#products = new Map(products.map((product) => [product.at, product]));
    if (this.numRows > MAX_ROWS) return;
    for (const [at, dispatch] of all.entries()) {
      if (dispatch.program === 'FastGelu' || dispatch.program === 'QuickGelu')
        this.#foldActivation(dispatch, at);
      else if (dispatch.program === 'SkipLayerNorm') this.#foldSum(dispatch, at);
    }
  }

  get numRows(): number {
    return Math.max(0, ...[...this.#products.values()].map(({ numRows }) => numRows));
  }

  get fused(): readonly FusedProduct[] {
    return [...this.#fused.values()].toSorted((a, b) => a.at - b.at);
  }

  /** Whether a fused product computes what this dispatch does. */
  replaces(at: number): boolean {
    return this.#removed.has(at);
  }

  #foldActivation({ program, reads, uniforms }: NamedDispatch, at: number): void {
    const product = this.#soleProduct({ at, name: 'x' });
    const bias = reads.get('bias')?.buffer;
    if (!product || (bias && product.bias)) return;
    const sigmoidFactor = uniforms.get('attr') ?? 1;
    const activation = program === 'FastGelu' ? 'gelu_tanh' : { sigmoidFactor };
    this.#fuse(product, { activation, ...(bias && { bias }), output: { at, name: 'y' } }, at);
    const [gate, ...others] = this.flow.readersOf({ at, name: 'y' });
    if (gate && others.length === 0 && this.#all[gate.at]?.program === 'Mul') this.#foldGate(product, gate);
  }

  /** A second product of the same input, by which the activated one is multiplied. */
  #foldGate(product: OrtProduct, { at, name }: Port): void {
    const second = this.#soleProduct({ at, name: name === 'input_a' ? 'input_b' : 'input_a' });
    if (!second || second === product || second.bias || second.layout !== product.layout) return;
    if (second.numOutputs !== product.numOutputs) return;
    const [one, other] = [product, second].map((of) => this.flow.sourceOf({ at: of.at, name: of.input }));
    if (!one || !other || keyOf(one) !== keyOf(other)) return;
    const later = Math.max(product.at, second.at);
    this.#removed.add(second.at);
    this.#fused.delete(second);
    this.#fuse(product, { second, at: later, output: { at, name: 'output' } }, at);
  }

  /** A product adds itself to the residual stream, and those behind the norm of the sum normalize it by themselves. */
  #foldSum(norm: NamedDispatch, at: number): void {
    const branch = this.#soleProduct({ at, name: 'x' }) ? 'x' : 'skip';
    const product = this.#soleProduct({ at, name: branch });
    const readers = this.flow.readersOf({ at, name: 'output' });
    const behind = readers.map((reader) => this.#products.get(reader.at));
    const areProducts = readers.every(({ name }, i) => behind[i]?.input === name);
    const bias = norm.reads.get('bias')?.buffer;
    if (!product || !norm.writes.has(SUM) || readers.length === 0 || !areProducts) return;
    if (bias && product.bias) return;
    const residual = { at, name: branch === 'x' ? 'skip' : 'x' };
    if ((this.flow.sourceOf(residual)?.at ?? -1) > product.at) return;
    const sum = { at, name: SUM };
    this.#fuse(product, { residual, ...(bias && { bias }), output: sum }, at);
    for (const reader of behind) if (reader) this.#fuse(reader, { norm, input: sum }, reader.at);
  }

  /** @param replaced A dispatch that is no longer needed, beside the product's own. */
  #fuse(product: OrtProduct, folded: Partial<FusedProduct>, replaced: number): void {
    const { at, bias } = product;
    const known = this.#fused.get(product) ?? {
      product,
      at,
      input: this.flow.sourceOf({ at, name: product.input }),
      bias,
      output: { at, name: 'output' },
    };
    this.#fused.set(product, { ...known, ...folded });
    this.#removed.add(at).add(replaced);
  }

  /** The product that has written this input, if nothing else reads it. */
  #soleProduct(input: Port): OrtProduct | undefined {
    const source = this.flow.sourceOf(input);
    const isSole = source && this.flow.readersOf(source).length === 1;
    return isSole ? this.#products.get(source.at) : undefined;
  }
}
