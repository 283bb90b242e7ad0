import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { integerIn } from '../../../batching/base/validate.ts';
import { isRecord } from '../../../platform/is-record.ts';
import {
  sizeOf,
  TENSOR_ARRAYS,
  type OnnxTensor,
  type OnnxTensorType,
  type OnnxValueInfo,
} from './onnx-tensor.ts';
import { unknownOption } from '../../../batching/base/unknown-option-error.ts';

/** What the runtime takes. */
type RuntimeData = Exclude<OnnxTensor['data'], readonly string[]> | string[];

const FIELDS: readonly string[] = ['type', 'data', 'dims'];

/** The runtime has dims of 32 bits on the way. */
const isLength = integerIn({ from: 0, to: 2 ** 31 - 1 });

/**
 * Checks a value for an input, and makes its data of the input's type. Plain values stay what they are, but for the rounding of
 * fractions.
 *
 * @throws InvalidOptionError, UnknownOptionError naming the input and what it takes.
 */
export function readFeed(
  input: OnnxValueInfo,
  feed: unknown,
): { data: RuntimeData; dims: readonly number[] } {
  const { name, type, shape } = input;
  if (!isRecord(feed) || !('data' in feed && 'dims' in feed)) {
    const expected = `a ${type} tensor of the shape [${shape.join(', ')}], as { data, dims }`;
    throw InvalidOptionError.of(name, expected, feed);
  }
  const unknown = Object.keys(feed).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) throw unknownOption(`${name}.${unknown}`, FIELDS);
  if (feed['type'] !== undefined && feed['type'] !== type)
    throw InvalidOptionError.of(`${name}.type`, type, feed['type']);
  const dims = readDims(input, feed['dims']);
  const { data } = feed;
  if (!Array.isArray(data) && !ArrayBuffer.isView(data)) throw refusalOf(input, data);
  const length: unknown = 'length' in data ? data.length : undefined;
  const size = sizeOf(dims);
  if (length !== size)
    throw InvalidOptionError.of(`${name}.data`, `${size} values, the product of its dims`, length);
  return { data: type === 'string' ? readStrings(input, data) : readNumbers(input, type, data), dims };
}

function refusalOf({ name, type }: OnnxValueInfo, data: unknown): InvalidOptionError {
  const expected = type === 'string' ? 'a list of strings' : `a ${TENSOR_ARRAYS[type].name}, or a list`;
  return InvalidOptionError.of(`${name}.data`, expected, data);
}

function readDims({ name, shape }: OnnxValueInfo, given: unknown): readonly number[] {
  if (!Array.isArray(given)) throw InvalidOptionError.of(`${name}.dims`, 'a list of lengths', given);
  const dims = Array.from<unknown, number>(given, (length, axis) =>
    isLength(`${name}.dims[${axis}]`, length),
  );
  const isOfShape =
    shape.length === 0 ||
    (dims.length === shape.length &&
      shape.every((length, axis) => typeof length === 'string' || length < 0 || length === dims[axis]));
  if (!isOfShape) throw InvalidOptionError.of(`${name}.dims`, `of the shape [${shape.join(', ')}]`, dims);
  return dims;
}

function readStrings(input: OnnxValueInfo, data: unknown): string[] {
  if (!Array.isArray(data)) throw refusalOf(input, data);
  return Array.from<unknown, string>(data, (value, index) => {
    // The runtime ends a string at a NUL, and UTF-8 has no half characters.
    if (typeof value === 'string' && value.isWellFormed() && !value.includes('\0')) return value;
    const expected = 'a string of whole characters without NUL';
    throw InvalidOptionError.of(`${input.name}.data[${index}]`, expected, value);
  });
}

type NumberType = Exclude<OnnxTensorType, 'string'>;

function readNumbers(input: OnnxValueInfo, type: NumberType, data: unknown): RuntimeData {
  const Typed = TENSOR_ARRAYS[type];
  const { expected, holds } = kindOf(type);
  const read = (value: unknown, index: number): Plain => {
    if (holds(value)) return value;
    throw InvalidOptionError.of(`${input.name}.data[${index}]`, expected, value);
  };
  if (!Array.isArray(data)) {
    if (!(data instanceof Typed)) throw refusalOf(input, data);
    // Only its values say whether bytes are of the type bool.
    if (type === 'bool') data.forEach(read);
    return data;
  }
  const list = Array.from<unknown, Plain>(data, read);
  if (type === 'int64' || type === 'uint64') return TENSOR_ARRAYS[type].from(list.map(BigInt));
  const numbers = list.map(Number);
  return type === 'float16'
    ? new Uint16Array(Float16Array.from(numbers).buffer)
    : TENSOR_ARRAYS[type].from(numbers);
}

type Plain = number | bigint | boolean;

/** The plain values of a type. */
interface Kind {
  readonly expected: string;
  readonly holds: (value: unknown) => value is Plain;
}

function kindOf(type: NumberType): Kind {
  if (type === 'bool') return { expected: 'true, false, 0 or 1', holds: isTruth };
  if (type === 'float32') return fractions(type, Math.fround);
  if (type === 'float16') return fractions(type, (value) => Float16Array.of(value)[0] ?? 0);
  return type === 'float64' ? fractions(type, (value) => value) : integers(type);
}

function isTruth(value: unknown): value is Plain {
  return typeof value === 'boolean' || value === 0 || value === 1;
}

/** @param round To the type, which makes the largest numbers infinite. */
function fractions(type: NumberType, round: (value: number) => number): Kind {
  return {
    expected: `a number in the range of ${type}`,
    holds: (value): value is Plain =>
      typeof value === 'number' && (!Number.isFinite(value) || Number.isFinite(round(value))),
  };
}

function integers(type: NumberType): Kind {
  const numBits = BigInt(type.replaceAll(/\D/g, ''));
  const isSigned = !type.startsWith('u');
  const min = isSigned ? -(2n ** (numBits - 1n)) : 0n;
  const max = isSigned ? 2n ** (numBits - 1n) - 1n : 2n ** numBits - 1n;
  const beyond = numBits === 64n ? ', and a bigint where a number would be rounded' : '';
  return {
    expected: `an integer from ${min} to ${max}${beyond}`,
    holds: (value): value is Plain =>
      (typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))) &&
      value >= min &&
      value <= max,
  };
}
