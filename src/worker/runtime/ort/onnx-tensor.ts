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
  /** Typed values of the input's type, or plain ones: numbers that the type holds, bigints for integers, booleans for `bool`, strings. */
  readonly data: OnnxTensor['data'] | readonly (number | bigint | boolean | string)[];
  /** The length of each dimension. Their product is the length of `data`. */
  readonly dims: readonly number[];
  /** That of the input, as an output has it. */
  readonly type?: OnnxTensorType;
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

export const TENSOR_ARRAYS = {
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
  return type === 'string' || Object.hasOwn(TENSOR_ARRAYS, type);
}

/** How many values these dims take. */
export function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, length) => product * length, 1);
}

/** An output of the runtime. */
export function asTensor(type: string, data: unknown, dims: readonly number[]): OnnxTensor {
  const values =
    data instanceof Float16Array ? new Uint16Array(data.buffer, data.byteOffset, data.length) : data;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the runtime's data is of its type
  return { type, data: values, dims } as OnnxTensor;
}
