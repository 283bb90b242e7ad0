import { rotationMatrix, rotationSizeOf } from '../checkpoint/rotation.ts';
import type { OnnxNodes } from './onnx-nodes.ts';
import { ONNX_TYPE } from './onnx-proto.ts';

/** Adds initializers to a graph, and returns their names. */
interface Initializers {
  constant(name: string, values: Float32Array<ArrayBuffer>, ...dims: number[]): string;
  byte(value: number): string;
  list(...values: number[]): string;
}

/** A matrix [in, out] in int8 whose columns are rotated, and its scales [out]. */
interface Int8Matrix {
  readonly name: string;
  /** Inputs. */
  readonly width: number;
  readonly scales: string;
}

/** The integer that stands for 0: onnxruntime is fast for uint8 times int8 alone, and ten times slower for int8 times int8. */
const ZERO_POINT = 128;

const LARGEST = 127;

/** In place of the largest value of a row of zeros, which nothing can be divided by. */
const SMALLEST = 1e-30;

/**
 * Products with int8 weights, for the CPU. Activations become integers too, each row by its own largest value: a text never depends on
 * the texts beside it, and products of integers are exact.
 */
export class Int8Products {
  readonly #nodes: OnnxNodes;
  readonly #initializers: Initializers;

  constructor(nodes: OnnxNodes, initializers: Initializers) {
    this.#nodes = nodes;
    this.#initializers = initializers;
  }

  /** [.., in] x [in, out], plus the bias ('' for none) */
  multiply(input: string, { name, width, scales }: Int8Matrix, output: string, bias: string): void {
    const nodes = this.#nodes;
    nodes.addOnce(`${input}.int8`, () => this.#quantize(input, width));
    const factors = [this.#number(1 / LARGEST), scales, this.#initializers.byte(ZERO_POINT)];
    nodes.addFused('MatMulIntegerToFloat', [`${input}.int8`, name, ...factors], [`${output}.unscaled`]);
    const scaled = bias === '' ? output : `${output}.scaled`;
    nodes.add('Mul', [`${output}.unscaled`, `${input}.largest`], [scaled]);
    if (bias !== '') nodes.add('Add', [scaled, bias], [output]);
  }

  /**
   * ids [B, S] -> the columns of a matrix [width, rows], as [B, S, width]
   *
   * @param scales [rows, 1]
   */
  lookUp(ids: string, { name, width, scales }: Int8Matrix, output: string): void {
    const nodes = this.#nodes;
    nodes.add('Gather', [name, ids], [`${output}.columns`], { axis: { int: 1 } });
    nodes.add('Transpose', [`${output}.columns`], [`${output}.int8`], { perm: { ints: [1, 2, 0] } });
    nodes.add('Cast', [`${output}.int8`], [`${output}.steps`], { to: { int: ONNX_TYPE.float32 } });
    nodes.add('Gather', [scales, ids], [`${output}.step`]);
    nodes.add('Mul', [`${output}.steps`, `${output}.step`], [`${output}.rotated`]);
    this.#rotate(`${output}.rotated`, width, output);
  }

  /** Maps the largest value of each row, `${input}.largest`, to `LARGEST`: `${input}.int8`. */
  #quantize(input: string, width: number): void {
    const nodes = this.#nodes;
    const name = (part: string): string => `${input}.${part}`;
    this.#rotate(input, width, name('rotated'));
    nodes.add('Abs', [name('rotated')], [name('sizes')]);
    nodes.add('ReduceMax', [name('sizes'), this.#initializers.list(-1)], [name('row_largest')]);
    nodes.add('Max', [name('row_largest'), this.#number(SMALLEST)], [name('largest')]);
    nodes.add('Div', [this.#number(LARGEST), name('largest')], [name('factor')]);
    nodes.add('Mul', [name('rotated'), name('factor')], [name('steps')]);
    // The cast cuts the fraction off, so it rounds to the nearest integer.
    nodes.add('Add', [name('steps'), this.#number(ZERO_POINT + 0.5)], [name('shifted')]);
    nodes.add('Cast', [name('shifted')], [name('int8')], { to: { int: ONNX_TYPE.uint8 } });
  }

  /** [.., width] -> the same, with each group of values turned as `rotate` does */
  #rotate(input: string, width: number, output: string): void {
    const nodes = this.#nodes;
    const size = rotationSizeOf(width);
    const matrix = this.#initializers.constant(`rotation_${size}`, rotationMatrix(size), size, size);
    nodes.add('Shape', [input], [`${output}.shape`]);
    nodes.add('Reshape', [input, this.#initializers.list(-1, size)], [`${output}.groups`]);
    nodes.add('MatMul', [`${output}.groups`, matrix], [`${output}.turned`]);
    nodes.add('Reshape', [`${output}.turned`, `${output}.shape`], [output]);
  }

  #number(value: number): string {
    return this.#initializers.constant(`number_${value}`, Float32Array.of(value));
  }
}
