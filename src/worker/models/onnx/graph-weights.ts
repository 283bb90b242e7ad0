import {
  bitsOf,
  BLOCK_SIZE,
  BYTES_PER_VALUE,
  zeroPointBytes,
  type PackedLayout,
  type PackedSection,
  type PackedTensor,
  type Precision,
} from '../checkpoint/packed-weights.ts';
import { toFloat16 } from '../formats/float-formats.ts';
import { countElements, isSplitByRows } from '../program/model-config.ts';
import type { OnnxNodes } from './onnx-nodes.ts';
import type { OnnxInitializer } from './onnx-proto.ts';

/** The file of external data that holds the graph's initializers. */
export const WEIGHTS_LOCATION = 'weights';

/** Rows of a tensor that are bound as one initializer. A matrix has as many rows as it has outputs. */
interface RowBlock {
  readonly name: string;
  readonly firstRow: number;
  readonly numRows: number;
  /** Values in a row. */
  readonly length: number;
  readonly encoding: PackedTensor['encoding'];
  /** Offsets in the packed file. */
  readonly offset: number;
  readonly scalesOffset: number;
  readonly zeroPointsOffset: number;
}

/** The packed weights as initializers of a graph. Adds the nodes that multiply by them or gather from them. */
export class GraphWeights {
  readonly #nodes: OnnxNodes;
  /** The type of activations. */
  readonly precision: Precision;
  readonly #initializers = new Map<string, OnnxInitializer>();
  readonly #blocks = new Map<string, readonly RowBlock[]>();

  /** @param maxBindingBytes Bytes that a shader can bind at once; larger embeddings are bound in blocks of rows. */
  constructor(
    nodes: OnnxNodes,
    { layout, maxBindingBytes }: { readonly layout: PackedLayout; readonly maxBindingBytes: number },
  ) {
    this.#nodes = nodes;
    this.precision = layout.precision;
    for (const tensor of layout.tensors) {
      const blocks = splitRows(tensor, maxBindingBytes);
      this.#blocks.set(tensor.name, blocks);
      for (const block of blocks) {
        const { name, numRows, length, offset } = block;
        const dims = isSplitByRows(tensor) ? [numRows, length] : tensor.shape;
        const bits = bitsOf(block);
        if (bits) this.#bind(name, 'uint8', [numRows, length / BLOCK_SIZE, (BLOCK_SIZE * bits) / 8], offset);
        else this.#bind(name, layout.precision, dims, offset);
      }
    }
  }

  get initializers(): readonly OnnxInitializer[] {
    return [...this.#initializers.values()];
  }

  /** [tokens, in] x the `conv1d` matrix [in, out], plus the bias ('' for none) */
  multiply(input: string, weight: string, output: string, bias = ''): void {
    const [block] = this.#blocksOf(weight);
    if (!block) return;
    const bits = bitsOf(block);
    if (bits) this.#multiplyQuantized(input, block, bits, output, bias);
    else if (bias === '') this.#nodes.add('MatMul', [input, block.name], [output]);
    else this.#nodes.add('Gemm', [input, block.name, bias], [output]);
  }

  /** ids [B, S] -> rows of the embedding [B, S, width] */
  lookUp(ids: string, embedding: string, output: string): void {
    const blocks = this.#blocksOf(embedding);
    const [whole] = blocks;
    if (whole && blocks.length === 1) this.#gather(ids, whole, output);
    else this.#gatherFromBlocks(ids, blocks, output);
  }

  /** [tokens, in] x the transpose of an embedding or a `linear` matrix [out, in], plus the bias ('' for none) */
  project(input: string, weight: string, output: string, bias = ''): void {
    const blocks = this.#blocksOf(weight);
    const [whole] = blocks;
    if (whole && blocks.length === 1) return this.#projectBlock(input, whole, output, bias);
    const sum = bias === '' ? output : `${output}.product`;
    const parts = blocks.map(({ firstRow }) => `${sum}.${firstRow}`);
    for (const [i, block] of blocks.entries()) this.#projectBlock(input, block, parts[i] ?? '', '');
    this.#nodes.add('Concat', parts, [sum], { axis: { int: 1 } });
    if (bias !== '') this.#nodes.add('Add', [sum, bias], [output]);
  }

  /** A list of int64: a shape, axes or sizes. */
  list(...values: number[]): string {
    const data = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
    return this.#add({ name: `list_${values.join('_')}`, type: 'int64', dims: [values.length], data });
  }

  /** Values that come with the graph, in the precision of activations. */
  constant(name: string, values: Float32Array<ArrayBuffer>, ...dims: number[]): string {
    const data = new Uint8Array((this.precision === 'float16' ? toFloat16(values) : values).buffer);
    return this.#add({ name, type: this.precision, dims, data });
  }

  /** As `constant`, in float32 whatever the precision of activations. */
  wideConstant(name: string, values: Float32Array<ArrayBuffer>, ...dims: number[]): string {
    return this.#add({ name, type: 'float32', dims, data: new Uint8Array(values.buffer) });
  }

  /** An int32 without dimensions. */
  scalar(value: number): string {
    const data = new Uint8Array(Int32Array.of(value).buffer);
    return this.#add({ name: `scalar_${value}`, type: 'int32', dims: [], data });
  }

  #projectBlock(input: string, block: RowBlock, output: string, bias: string): void {
    const bits = bitsOf(block);
    if (bits) return this.#multiplyQuantized(input, block, bits, output, bias);
    const inputs = bias === '' ? [input, block.name] : [input, block.name, bias];
    // Gemm reads the matrix as it lies, without a transposed copy.
    this.#nodes.add('Gemm', inputs, [output], { transB: { int: 1 } });
  }

  #multiplyQuantized(input: string, block: RowBlock, bits: 8 | 4, output: string, bias = ''): void {
    const { name, numRows, length } = block;
    const scales = this.#bindScales(block, '', numRows * (length / BLOCK_SIZE));
    const zeroPoints = this.#bindZeroPoints(block, '', numRows * zeroPointBytes(length, bits));
    // There is no reordering of groups.
    const inputs = [name, scales, zeroPoints, ...(bias === '' ? [] : ['', bias])];
    this.#nodes.addFused('MatMulNBits', [input, ...inputs], [output], {
      K: { int: length },
      N: { int: numRows },
      bits: { int: bits },
      block_size: { int: BLOCK_SIZE },
    });
  }

  #gather(ids: string, block: RowBlock, output: string): void {
    const { name, numRows, length } = block;
    const bits = bitsOf(block);
    if (!bits) return this.#nodes.add('Gather', [name, ids], [output]);
    // Products take the same scales and zero points in other dimensions.
    const scales = this.#bindScales(block, '.lookup', numRows, length / BLOCK_SIZE, 1);
    const zeroPoints = this.#bindZeroPoints(block, '.lookup', numRows, zeroPointBytes(length, bits), 1);
    this.#nodes.addFused('GatherBlockQuantized', [name, ids, scales, zeroPoints], [`${output}.blocks`], {
      bits: { int: bits },
      block_size: { int: BLOCK_SIZE },
      gather_axis: { int: 0 },
      quantize_axis: { int: 2 },
    });
    this.#nodes.add('Reshape', [`${output}.blocks`, this.list(0, 0, length)], [output]);
  }

  #bindScales({ name, scalesOffset }: RowBlock, use: '' | '.lookup', ...dims: readonly number[]): string {
    return this.#bind(`${name}${use}.scales`, this.precision, dims, scalesOffset);
  }

  /** Always there: backends differ in what they take for 0 without them. */
  #bindZeroPoints(
    { name, zeroPointsOffset }: RowBlock,
    use: '' | '.lookup',
    ...dims: readonly number[]
  ): string {
    return this.#bind(`${name}${use}.zero_points`, 'uint8', dims, zeroPointsOffset);
  }

  /** Gathers a row per id from each block, with bounded indices. A later block replaces the rows from its first id on. */
  #gatherFromBlocks(ids: string, blocks: readonly RowBlock[], output: string): void {
    const nodes = this.#nodes;
    const column = `${output}.ids`;
    const zero = this.scalar(0);
    nodes.add('Unsqueeze', [ids, this.list(-1)], [column]);
    let chosen = '';
    for (const [i, block] of blocks.entries()) {
      const at = `${output}.${block.firstRow}`;
      const first = this.scalar(block.firstRow);
      const end = this.scalar(block.firstRow + block.numRows);
      nodes.add('Sub', [ids, first], [`${at}.offset`]);
      nodes.add('Less', [ids, end], [`${at}.is_before_end`]);
      nodes.add('GreaterOrEqual', [ids, first], [`${at}.is_from_first`]);
      nodes.add('Where', [`${at}.is_before_end`, `${at}.offset`, zero], [`${at}.bounded`]);
      nodes.add('Where', [`${at}.is_from_first`, `${at}.bounded`, zero], [`${at}.row`]);
      this.#gather(`${at}.row`, block, `${at}.rows`);
      if (chosen === '') {
        chosen = `${at}.rows`;
        continue;
      }
      const next = i + 1 === blocks.length ? output : `${at}.chosen`;
      nodes.add('GreaterOrEqual', [column, first], [`${at}.is_own`]);
      nodes.add('Where', [`${at}.is_own`, `${at}.rows`, chosen], [next]);
      chosen = next;
    }
  }

  #bind(name: string, type: 'uint8' | Precision, dims: readonly number[], offset: number): string {
    const bytesPerValue = type === 'uint8' ? 1 : BYTES_PER_VALUE[type];
    const length = countElements(dims) * bytesPerValue;
    return this.#add({ name, type, dims, data: { location: WEIGHTS_LOCATION, offset, length } });
  }

  #add(initializer: OnnxInitializer): string {
    this.#initializers.set(initializer.name, initializer);
    return initializer.name;
  }

  #blocksOf(weight: string): readonly RowBlock[] {
    const blocks = this.#blocks.get(weight);
    if (!blocks) throw new Error(`Expected ${weight} among the packed weights`);
    return blocks;
  }
}

function splitRows(tensor: PackedTensor, maxBindingBytes: number): readonly RowBlock[] {
  const { name, role, shape, encoding, scales, zeroPoints } = tensor;
  const [first = 0, second = 1] = shape;
  const [allRows, length] = role === 'conv1d' ? [second, first] : [first, second];
  const offsetIn = (range: PackedSection | undefined, row: number): number =>
    range ? range.offset + row * (range.length / allRows) : 0;
  const rowBytes = tensor.length / allRows;
  const rowsAtOnce = isSplitByRows(tensor)
    ? Math.min(allRows, Math.floor(maxBindingBytes / rowBytes))
    : allRows;
  return Array.from({ length: Math.ceil(allRows / rowsAtOnce) }, (_, i) => {
    const firstRow = i * rowsAtOnce;
    return {
      name: rowsAtOnce === allRows ? name : `${name}.${firstRow}`,
      firstRow,
      numRows: Math.min(rowsAtOnce, allRows - firstRow),
      length,
      encoding,
      offset: offsetIn(tensor, firstRow),
      scalesOffset: offsetIn(scales, firstRow),
      zeroPointsOffset: offsetIn(zeroPoints, firstRow),
    };
  });
}
