import { InvalidOptionError } from '../../../batching/base/errors.ts';

/** The type of a tensor's values, as ONNX names it. */
export type OnnxTensorType =
  | 'float32'
  | 'float64'
  | 'float16'
  | 'int8'
  | 'uint8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'uint64'
  | 'bool'
  | 'string';

/** Values of some type, row after row, and the length of each dimension. */
export interface OnnxTensorOf<Type extends OnnxTensorType, Data> {
  /** The type of the values. */
  readonly type: Type;
  /** The values, the last dimension first. */
  readonly data: Data;
  /** The length of each dimension. */
  readonly dims: readonly number[];
}

/** A tensor of any type. Values of half precision are their bits. */
export type OnnxTensor =
  | OnnxTensorOf<'float32', Float32Array>
  | OnnxTensorOf<'float64', Float64Array>
  | OnnxTensorOf<'float16' | 'uint16', Uint16Array>
  | OnnxTensorOf<'int8', Int8Array>
  | OnnxTensorOf<'uint8' | 'bool', Uint8Array>
  | OnnxTensorOf<'int16', Int16Array>
  | OnnxTensorOf<'int32', Int32Array>
  | OnnxTensorOf<'uint32', Uint32Array>
  | OnnxTensorOf<'int64', BigInt64Array>
  | OnnxTensorOf<'uint64', BigUint64Array>
  | OnnxTensorOf<'string', readonly string[]>;

/** A value for an input, of the type that the model has there. */
export interface OnnxFeed {
  /** Typed values of the input's type, or plain ones, which become of that type. */
  readonly data: OnnxTensor['data'] | readonly (number | bigint | boolean | string)[];
  /** The length of each dimension. Their product is the length of `data`. */
  readonly dims: readonly number[];
}

/** An input or output of a model. */
export interface OnnxValueInfo {
  /** Its name in the graph. */
  readonly name: string;
  /** The type of its values. */
  readonly type: OnnxTensorType;
  /** A name, or -1 where the model has none, stands for a dimension of any length. */
  readonly shape: readonly (number | string)[];
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
} as const satisfies Record<Exclude<OnnxTensorType, 'string'>, unknown>;

export function isTensorType(type: string): type is OnnxTensorType {
  return type === 'string' || Object.hasOwn(ARRAYS, type);
}

/** What the runtime takes. */
type RuntimeData = Exclude<OnnxTensor['data'], readonly string[]> | string[];

/**
 * Checks a value for an input, and makes its data of the input's type.
 *
 * @throws InvalidOptionError naming the input and what it takes.
 */
export function dataFor({ name, type, shape }: OnnxValueInfo, { data, dims }: OnnxFeed): RuntimeData {
  const isOfShape =
    shape.length === 0 ||
    (dims.length === shape.length &&
      shape.every((length, axis) => typeof length === 'string' || length < 0 || length === dims[axis]));
  if (!isOfShape) throw InvalidOptionError.of(`${name}.dims`, `of the shape [${shape.join(', ')}]`, dims);
  const size = sizeOf(dims);
  if (data.length !== size)
    throw InvalidOptionError.of(`${name}.data`, `${size} values, the product of its dims`, data.length);
  return type === 'string' ? strings(name, data) : numbers(name, type, data);
}

function strings(name: string, data: OnnxFeed['data']): string[] {
  return Array.from(data, (value) => {
    if (typeof value === 'string') return value;
    throw InvalidOptionError.of(`${name}.data`, 'strings', value);
  });
}

type NumberType = Exclude<OnnxTensorType, 'string'>;

function numbers(name: string, type: NumberType, data: OnnxFeed['data']): RuntimeData {
  const Typed = ARRAYS[type];
  if (!isList(data)) {
    if (data instanceof Typed) return data;
    throw InvalidOptionError.of(
      `${name}.data`,
      `a ${Typed.name}, or a list of numbers`,
      data.constructor.name,
    );
  }
  try {
    if (type === 'int64' || type === 'uint64') return ARRAYS[type].from(Array.from(data, BigInt));
    const values = Array.from(data, Number);
    return type === 'float16' ? new Uint16Array(Float16Array.from(values).buffer) : ARRAYS[type].from(values);
  } catch (error) {
    throw InvalidOptionError.of(`${name}.data`, `numbers of the type ${type}`, String(error));
  }
}

function isList(data: OnnxFeed['data']): data is readonly (number | bigint | boolean | string)[] {
  return Array.isArray(data);
}

/** An output of the runtime. */
export function asTensor(type: string, data: unknown, dims: readonly number[]): OnnxTensor {
  const values =
    data instanceof Float16Array ? new Uint16Array(data.buffer, data.byteOffset, data.length) : data;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runtime's data is of its type
  return { type, data: values, dims } as OnnxTensor;
}

/** How items become rows of one length. */
export interface StackOptions {
  /** Rows are padded to a multiple of this length; without it all items have one length. */
  readonly padToMultipleOf?: number | undefined;
  /** What they are padded with; 0 by default. */
  readonly padWith?: number | undefined;
  /** The shape of one item, such as `[3, 224, 224]` of a picture. By default an item is a list of any length. */
  readonly shape?: readonly number[] | undefined;
}

/**
 * Items of a batch as rows of one input: `[items, length]`, or `[items, ...shape]`.
 *
 * @throws InvalidOptionError for an item of another length, without `padToMultipleOf`. A handler doesn't catch it: the batch then runs
 *   again in halves, so that only such items fail.
 */
export function stackRows(
  items: readonly ArrayLike<number>[],
  { padToMultipleOf, padWith = 0, shape }: StackOptions = {},
): OnnxFeed & { readonly data: readonly number[] } {
  const longest = items.reduce((most, { length }) => Math.max(most, length), 0);
  const padded =
    padToMultipleOf === undefined ? longest : Math.ceil(longest / padToMultipleOf) * padToMultipleOf;
  const width = shape ? sizeOf(shape) : padded;
  const data = Array.from<number>({ length: items.length * width }).fill(padWith);
  for (const [index, item] of items.entries()) {
    if (item.length !== width && (shape || padToMultipleOf === undefined))
      throw InvalidOptionError.of(
        `items[${index}]`,
        `of ${width} values${shape ? '' : ', as its mates'}`,
        item.length,
      );
    for (let at = 0; at < item.length; at += 1) data[index * width + at] = item[at] ?? padWith;
  }
  return { data, dims: [items.length, ...(shape ?? [width])] };
}

function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, length) => product * length, 1);
}

/**
 * The rows of an output, one for each item of the batch: what lies behind its first dimension, in one list.
 *
 * @throws RangeError for an output that the model doesn't have, for an integer that a number can't hold, and for strings.
 */
export function rowsOf(output: OnnxTensor | undefined): readonly (readonly number[])[] {
  if (!output) throw new RangeError('The model has no output of this name: see its `outputs`.');
  const { type, data, dims } = output;
  const [numRows = 0, ...rest] = dims;
  const width = sizeOf(rest);
  const values: readonly (number | bigint | string)[] = [
    ...(type === 'float16' ? new Float16Array(data.slice().buffer) : data),
  ];
  return Array.from({ length: numRows }, (_, row) =>
    values.slice(row * width, (row + 1) * width).map((value) => {
      const number = Number(value);
      const isExact = typeof value !== 'bigint' || BigInt(number) === value;
      if (isExact && typeof value !== 'string') return number;
      throw new RangeError(`\`${value}\` is no number: read \`data\` itself.`);
    }),
  );
}
