import type { ModelTensor } from '../../models/program/model-config.ts';
import type { Value } from '../../models/program/program.ts';
import { quantizedRowBytes } from '../kernels/kernels.ts';
import type { PlacedInt4, PlacedInt8 } from '../weights/place-weights.ts';
import type { Compiler, OpOf } from './compiler.ts';
import type { Place } from './buffers.ts';
import type { Pass } from './pass.ts';

/** Multiplications that one call makes at most: about a millisecond. */
const MAX_PRODUCTS = 2 ** 23;

/** Outputs that kernels compute together. */
const TILE = 16;

/** Multiplies rows by a matrix, for outputs `first` to `end`. */
type Multiply = (out: number, outStride: number, rows: number, first: number, end: number) => void;

export function compileLinear(
  { inputs: [input], outputs, weights: [matrix, bias] }: OpOf<'linear'>,
  to: Compiler,
): void {
  const x = to.buffers.placeOf(input);
  const countRows = to.rowsOf(input);
  const product = { input, x, width: input.width, bias: to.address(bias), countRows };
  const multiply = compileProduct(product, matrix, to);
  const out = to.buffers.placeTogether(outputs);
  const sizes = { inputs: input.width, outputs: out.stride };
  to.add((pass) => parts(multiply, sizes, to.at(out), countRows(pass)));
}

export function compileHead(op: OpOf<'head'>, to: Compiler): void {
  const [input, output, [matrix]] = [op.inputs[0], op.outputs[0], op.weights];
  const x = to.buffers.placeOf(input);
  const countRows = to.rowsOf(input);
  const multiply = compileProduct({ input, x, width: input.width, bias: 0, countRows }, matrix, to);
  const sizes = { inputs: input.width, outputs: output.width };
  to.add((pass) => parts(multiply, sizes, to.logits.address(pass.firstLogitRow), countRows(pass)));
  to.buffers.place(output);
}

/** A product in the making. */
interface Product {
  readonly input: Value;
  readonly x: Place;
  /** Inputs of the matrix. */
  readonly width: number;
  /** Address; 0 for none. */
  readonly bias: number;
  readonly countRows: (pass: Pass) => number;
}

/** Adds what has to come before the products of a matrix in the encoding that it has. */
function compileProduct(product: Product, matrix: ModelTensor, to: Compiler): Multiply {
  const placed = to.weight(matrix);
  if (placed.encoding === 'int8') return productOfInt8(product, placed, to);
  if (placed.encoding === 'int4') return productOfInt4(product, placed, to);
  const { x, width, bias } = product;
  const { address } = placed;
  return (out, stride, rows, first, end) =>
    to.kernels.multiplyFloat(to.at(x), x.stride, address, bias, out, stride, rows, width, first, end);
}

function productOfInt8(
  product: Product,
  { address, scales, sums, rotation }: PlacedInt8,
  to: Compiler,
): Multiply {
  const { input, x, width, bias, countRows } = product;
  const { kernels } = to;
  const quantized = to.buffers.formOf(input, `int8 ${x.buffer}`, quantizedRowBytes(width) / 4, (place) =>
    to.scratch(width, (scratch) =>
      to.add((pass) => {
        const [from, into, rotated] = [to.at(x), to.at(place), to.at(scratch)];
        kernels.quantizeForInt8(from, x.stride, into, countRows(pass), width, rotation, rotated);
      }),
    ),
  );
  return (out, stride, rows, first, end) => {
    const from = to.at(quantized);
    kernels.multiplyInt8(from, address, scales, sums, bias, out, stride, rows, width, first, end);
  };
}

function productOfInt4(
  product: Product,
  { address, scales, zeroPoints }: PlacedInt4,
  to: Compiler,
): Multiply {
  const { input, x, width, bias, countRows } = product;
  const { kernels } = to;
  const quantized = to.buffers.formOf(input, `int4 ${x.buffer}`, quantizedRowBytes(width) / 4, (place) =>
    to.add((pass) => kernels.quantizeForInt4(to.at(x), x.stride, to.at(place), countRows(pass), width)),
  );
  return (out, stride, rows, first, end) => {
    const from = to.at(quantized);
    kernels.multiplyInt4(from, address, scales, zeroPoints, bias, out, stride, rows, width, first, end);
  };
}

function* parts(
  multiply: Multiply,
  { inputs, outputs }: { readonly inputs: number; readonly outputs: number },
  out: number,
  rows: number,
): Iterable<void> {
  if (rows === 0) return;
  const size = TILE * Math.max(1, Math.floor(MAX_PRODUCTS / (TILE * inputs * rows)));
  for (let first = 0; first < outputs; first += size) {
    multiply(out, outputs, rows, first, Math.min(outputs, first + size));
    yield;
  }
}
