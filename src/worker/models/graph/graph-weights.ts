import {
  bitsOf,
  BLOCK_SIZE,
  BYTES_PER_VALUE,
  countElements,
  type PackedLayout,
  type PackedTensor,
} from '../checkpoint/packed-weights.ts';
import { HEAD, TOKEN_EMBEDDING } from '../gpt2/tensors.ts';
import type { OnnxInitializer, OnnxNode } from './onnx-proto.ts';

/** Where the graph's initializers lie: in this file of external data. */
export const WEIGHTS_LOCATION = 'weights';

/** Rows of an embedding that are bound as one initializer. */
interface RowBlock {
  readonly name: string;
  readonly firstRow: number;
  readonly endRow: number;
}

/** The packed weights as initializers, and the nodes that multiply with them and look up in them. */
export class GraphWeights {
  readonly initializers: OnnxInitializer[] = [];
  readonly #layout: PackedLayout;
  readonly #maxBindingBytes: number;
  readonly #tensors: ReadonlyMap<string, PackedTensor>;
  /** The embedding that gives the logits. */
  readonly #head: string;
  readonly #blocks = new Map<string, readonly RowBlock[]>();

  /** @param maxBindingBytes What a shader can bind at once; larger embeddings are bound in blocks of rows. */
  constructor(layout: PackedLayout, maxBindingBytes: number) {
    this.#layout = layout;
    this.#maxBindingBytes = maxBindingBytes;
    this.#tensors = new Map(layout.tensors.map((tensor) => [tensor.name, tensor]));
    this.#head = this.#tensors.has(HEAD) ? HEAD : TOKEN_EMBEDDING;
    for (const tensor of layout.tensors) this.#addInitializers(tensor);
  }

  /** [.., in] x the matrix [in, out] */
  multiply(input: string, name: string, output: string): OnnxNode[] {
    const tensor = this.#tensor(name);
    const [length = 0, numRows = 0] = tensor.shape;
    const bits = bitsOf(tensor);
    return bits === undefined
      ? [node('MatMul', [input, name], [output])]
      : [multiplyBits(input, name, output, { bits, length, numRows })];
  }

  /** ids [B, S] -> rows of the token embedding [B, S, in] */
  lookUp(ids: string, output: string): OnnxNode[] {
    const blocks = this.#blocks.get(TOKEN_EMBEDDING) ?? [];
    const [whole] = blocks;
    if (whole && blocks.length === 1) return this.#gather(whole, ids, output);
    return this.#gatherFromBlocks(blocks, ids, output);
  }

  /** [B, in] -> logits [B, vocab] */
  project(hidden: string, output: string): OnnxNode[] {
    const blocks = this.#blocks.get(this.#head) ?? [];
    const [whole] = blocks;
    if (whole && blocks.length === 1) return [this.#projectBlock(whole, hidden, output)];
    const parts = blocks.map((block) => `${output}.${block.firstRow}`);
    return [
      ...blocks.map((block, i) => this.#projectBlock(block, hidden, parts[i] ?? '')),
      node('Concat', parts, [output], { axis: { int: 1 } }),
    ];
  }

  #projectBlock({ name: block, firstRow, endRow }: RowBlock, input: string, output: string): OnnxNode {
    const tensor = this.#tensor(this.#head);
    const [, length = 0] = tensor.shape;
    const bits = bitsOf(tensor);
    // Gemm reads the embedding as it lies, without a transposed copy.
    return bits === undefined
      ? node('Gemm', [input, block], [output], { transB: { int: 1 } })
      : multiplyBits(input, block, output, { bits, length, numRows: endRow - firstRow });
  }

  #gather({ name }: RowBlock, ids: string, output: string): OnnxNode[] {
    const tensor = this.#tensor(TOKEN_EMBEDDING);
    const [, width = 0] = tensor.shape;
    const bits = bitsOf(tensor);
    if (bits === undefined) return [node('Gather', [name, ids], [output])];
    return [
      {
        opType: 'GatherBlockQuantized',
        domain: 'com.microsoft',
        inputs: [name, ids, `${name}.lookup.scales`],
        outputs: [`${output}.blocks`],
        attributes: {
          bits: { int: bits },
          block_size: { int: BLOCK_SIZE },
          gather_axis: { int: 0 },
          quantize_axis: { int: 2 },
        },
      },
      node('Reshape', [`${output}.blocks`, this.#list(0, 0, width)], [output]),
    ];
  }

  /** Each block gives the rows of the ids from its first on, and the block behind it overrides what is not its own. */
  #gatherFromBlocks(blocks: readonly RowBlock[], ids: string, output: string): OnnxNode[] {
    const column = `${output}.ids`;
    const zero = this.#scalar(0);
    const nodes = [node('Unsqueeze', [ids, this.#list(-1)], [column])];
    let chosen = '';
    for (const [i, block] of blocks.entries()) {
      const at = `${output}.${block.firstRow}`;
      const first = this.#scalar(block.firstRow);
      const isLast = i + 1 === blocks.length;
      nodes.push(
        node('Sub', [ids, first], [`${at}.offset`]),
        node('Less', [ids, this.#scalar(block.endRow)], [`${at}.is_before_end`]),
        node('GreaterOrEqual', [ids, first], [`${at}.is_from_first`]),
        node('Where', [`${at}.is_before_end`, `${at}.offset`, zero], [`${at}.bounded`]),
        node('Where', [`${at}.is_from_first`, `${at}.bounded`, zero], [`${at}.row`]),
        ...this.#gather(block, `${at}.row`, `${at}.rows`),
      );
      if (chosen === '') {
        chosen = `${at}.rows`;
        continue;
      }
      const next = isLast ? output : `${at}.chosen`;
      nodes.push(
        node('GreaterOrEqual', [column, first], [`${at}.is_own`]),
        node('Where', [`${at}.is_own`, `${at}.rows`, chosen], [next]),
      );
      chosen = next;
    }
    return nodes;
  }

  #addInitializers(tensor: PackedTensor): void {
    const { name, role, shape, offset, length, scales } = tensor;
    const [first = 0, second = 0] = shape;
    if (role === 'embedding') {
      const blocks = splitRows(name, first, Math.floor(this.#maxBindingBytes / (length / first)));
      this.#blocks.set(name, blocks);
      for (const block of blocks) this.#addBlock(tensor, block);
    } else if (scales) {
      // Transposed.
      this.#addIntegers(name, tensor, [second, first / BLOCK_SIZE], offset);
      this.#addScales(name, [second * (first / BLOCK_SIZE)], scales.offset);
    } else {
      this.#addExternal(name, this.#layout.precision, shape, offset);
    }
  }

  #addBlock(tensor: PackedTensor, { name, firstRow, endRow }: RowBlock): void {
    const [allRows = 1, width = 0] = tensor.shape;
    const numRows = endRow - firstRow;
    const start = tensor.offset + firstRow * (tensor.length / allRows);
    if (!tensor.scales) {
      this.#addExternal(name, this.#layout.precision, [numRows, width], start);
      return;
    }
    const numBlocks = width / BLOCK_SIZE;
    const scalesStart = tensor.scales.offset + firstRow * (tensor.scales.length / allRows);
    this.#addIntegers(name, tensor, [numRows, numBlocks], start);
    // The same scales, in the dimensions that MatMulNBits and GatherBlockQuantized ask for.
    if (tensor.name === this.#head) this.#addScales(name, [numRows * numBlocks], scalesStart);
    if (tensor.name === TOKEN_EMBEDDING)
      this.#addScales(`${name}.lookup`, [numRows, numBlocks, 1], scalesStart);
  }

  /** @param dims Rows, and blocks of a row. */
  #addIntegers(name: string, { encoding }: PackedTensor, dims: readonly number[], offset: number): void {
    const blockBytes = encoding === 'q8' ? BLOCK_SIZE : BLOCK_SIZE / 2;
    this.#addExternal(name, 'uint8', [...dims, blockBytes], offset);
  }

  #addScales(name: string, dims: readonly number[], offset: number): void {
    this.#addExternal(`${name}.scales`, this.#layout.precision, dims, offset);
  }

  #addExternal(
    name: string,
    type: 'uint8' | 'float16' | 'float32',
    dims: readonly number[],
    offset: number,
  ): void {
    const length = countElements(dims) * (type === 'uint8' ? 1 : BYTES_PER_VALUE[type]);
    this.initializers.push({ name, type, dims, data: { location: WEIGHTS_LOCATION, offset, length } });
  }

  /** An int32 of no dimensions. */
  #scalar(value: number): string {
    return this.#addConstant({
      name: `scalar_${value}`,
      type: 'int32',
      dims: [],
      data: new Uint8Array(Int32Array.of(value).buffer),
    });
  }

  /** A list of int64: a shape, or axes. */
  #list(...values: number[]): string {
    return this.#addConstant({
      name: `list_${values.join('_')}`,
      type: 'int64',
      dims: [values.length],
      data: new Uint8Array(BigInt64Array.from(values, BigInt).buffer),
    });
  }

  #addConstant(constant: OnnxInitializer): string {
    if (!this.initializers.some(({ name }) => name === constant.name)) this.initializers.push(constant);
    return constant.name;
  }

  #tensor(name: string): PackedTensor {
    const tensor = this.#tensors.get(name);
    if (!tensor) throw new Error(`Expected ${name} among the packed weights`);
    return tensor;
  }
}

function splitRows(name: string, numRows: number, rowsAtOnce: number): readonly RowBlock[] {
  if (rowsAtOnce >= numRows) return [{ name, firstRow: 0, endRow: numRows }];
  return Array.from({ length: Math.ceil(numRows / rowsAtOnce) }, (_, i) => {
    const firstRow = i * rowsAtOnce;
    return { name: `${name}.${firstRow}`, firstRow, endRow: Math.min(numRows, firstRow + rowsAtOnce) };
  });
}

function multiplyBits(
  input: string,
  weight: string,
  output: string,
  { bits, length, numRows }: { readonly bits: number; readonly length: number; readonly numRows: number },
): OnnxNode {
  return {
    opType: 'MatMulNBits',
    domain: 'com.microsoft',
    inputs: [input, weight, `${weight}.scales`],
    outputs: [output],
    attributes: {
      K: { int: length },
      N: { int: numRows },
      bits: { int: bits },
      block_size: { int: BLOCK_SIZE },
    },
  };
}

function node(
  opType: string,
  inputs: readonly string[],
  outputs: readonly string[],
  attributes: OnnxNode['attributes'] = {},
): OnnxNode {
  return { opType, domain: '', inputs, outputs, attributes };
}
