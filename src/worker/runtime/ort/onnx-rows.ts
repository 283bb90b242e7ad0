import { InvalidOptionError, wrongArgument } from '../../../batching/base/errors.ts';
import { parseOptions } from '../../../batching/base/parse-options.ts';
import { integerIn, validator, type Validators } from '../../../batching/base/validate.ts';
import { OnnxModelError } from '../../../protocol/errors/onnx.ts';
import { sizeOf, type OnnxFeed, type OnnxTensor } from './onnx-tensor.ts';

/** How items become rows of one length. */
export interface StackOptions {
  /** Rows are padded to a multiple of this length; without it all items have one length. */
  readonly padToMultipleOf?: number | undefined;
  /** What they are padded with; 0 by default. */
  readonly padWith?: number | undefined;
  /** The shape of one item, such as `[3, 224, 224]` of a picture. By default an item is a list of any length. */
  readonly shape?: readonly number[] | undefined;
}

const isNumber = validator('a number', (value, refuse): number => {
  if (typeof value === 'number') return value;
  throw refuse(value);
});

const isLength = integerIn({ from: 0 });

const STACK_OPTIONS: Validators<StackOptions> = {
  padToMultipleOf: integerIn({ from: 1, to: 2 ** 20 }),
  padWith: isNumber,
  shape: validator('a list of lengths', (value, refuse, option): readonly number[] => {
    if (!Array.isArray(value)) throw refuse(value);
    return Array.from<unknown, number>(value, (length, axis) => isLength(`${option}[${axis}]`, length));
  }),
};

/**
 * Items of a batch as rows of one input: `[items, length]`, or `[items, ...shape]`.
 *
 * @throws InvalidOptionError for an item that is no list of numbers, or of another length without `padToMultipleOf`. A handler
 *   doesn't catch it: the batch then runs again in halves, so that only such items fail. UnknownOptionError for an option that isn't one.
 */
export function stackRows(
  items: readonly ArrayLike<number>[],
  options: StackOptions = {},
): OnnxFeed & { readonly data: readonly number[] } {
  const { padToMultipleOf, padWith = 0, shape } = parseOptions('options', STACK_OPTIONS, options);
  if (shape && padToMultipleOf !== undefined)
    throw InvalidOptionError.of('padToMultipleOf', 'left out beside `shape`', padToMultipleOf);
  const rows = readItems(items);
  const longest = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const padded =
    padToMultipleOf === undefined ? longest : Math.ceil(longest / padToMultipleOf) * padToMultipleOf;
  const width = shape ? sizeOf(shape) : padded;
  const data = Array.from<number>({ length: rows.length * width }).fill(padWith);
  for (const [index, row] of rows.entries()) {
    if (row.length !== width && padToMultipleOf === undefined)
      throw InvalidOptionError.of(
        `items[${index}]`,
        `of ${width} values${shape ? '' : ', as its mates'}`,
        row.length,
      );
    for (let at = 0; at < row.length; at += 1)
      data[index * width + at] = isNumber(`items[${index}][${at}]`, row[at]);
  }
  return { data, dims: [rows.length, ...(shape ?? [width])] };
}

function readItems(items: unknown): readonly ArrayLike<unknown>[] {
  if (!Array.isArray(items)) throw wrongArgument('items', 'a list of items', 'stackRows', items);
  return Array.from<unknown, ArrayLike<unknown>>(items, (item, index) => {
    if (isList(item)) return item;
    throw InvalidOptionError.of(`items[${index}]`, 'a list of numbers', item);
  });
}

function isList(item: unknown): item is ArrayLike<unknown> {
  return Array.isArray(item) || (ArrayBuffer.isView(item) && 'length' in item);
}

/**
 * The rows of an output, one for each item of the batch: what lies behind its first dimension, in one list.
 *
 * @throws InvalidOptionError for what is no tensor. OnnxModelError for an output that the model doesn't have or that has no rows, for an integer that a number can't hold, and
 *   for strings.
 */
export function rowsOf(output: OnnxTensor | undefined): readonly (readonly number[])[] {
  if (!output) throw OnnxModelError.ofRows('the model has no output of this name', 'see its `outputs`');
  if (!Array.isArray(output.dims) || typeof Object(output.data).length !== 'number')
    throw wrongArgument('output', 'a tensor', 'rowsOf', output);
  const { type, data, dims } = output;
  const [numRows, ...rest] = dims;
  if (numRows === undefined) throw OnnxModelError.ofRows('the output has no dimensions', 'read its `data`');
  if (data.length !== sizeOf(dims)) {
    const reason = `the tensor has ${data.length} values, and its dims are [${dims.join(', ')}]`;
    throw OnnxModelError.ofRows(reason, 'give it as many values as their product');
  }
  const width = sizeOf(rest);
  const values: readonly (number | bigint | string)[] = [
    ...(type === 'float16' ? new Float16Array(data.slice().buffer) : data),
  ];
  return Array.from({ length: numRows }, (_, row) =>
    values.slice(row * width, (row + 1) * width).map((value) => {
      const number = Number(value);
      const isExact = typeof value !== 'bigint' || BigInt(number) === value;
      if (isExact && typeof value !== 'string') return number;
      throw OnnxModelError.ofRows(`\`${value}\` is no number`, 'read the `data` of the output');
    }),
  );
}
