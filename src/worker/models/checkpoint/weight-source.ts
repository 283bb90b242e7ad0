import { sectionsOf, type PackedTensor } from './packed-weights.ts';

/** Rows of a tensor as the packed file has them. */
export interface PackedRows {
  readonly tensor: PackedTensor;
  readonly firstRow: number;
  readonly numRows: number;
  /** Bytes of each of the tensor's sections. */
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
}

/** Takes the rows of all tensors, in any order of tensors, those of each in its order. Their bytes are valid during the call. */
export type TakeRows = (rows: PackedRows) => void;

/** Packed weights on their way to a runtime, which reads them once. */
export interface WeightSource {
  /** Hands all rows over, some at a time. In between the worker serves others. */
  stream(take: TakeRows): Promise<void>;
  /** The packed file, or `lazyBytes` of it, for a runtime that reads in an order of its own. */
  bytes(): Promise<Uint8Array>;
}

/** Rows of a tensor in the packed file: its outputs, where it is quantized. */
export function packedRowsOf({ role, shape, scales }: PackedTensor): number {
  return (role === 'conv1d' && scales ? shape[1] : shape[0]) ?? 1;
}

/** Writes rows to their places in a packed file. */
export function writeRows(
  { tensor, firstRow, parts }: PackedRows,
  write: (bytes: Uint8Array<ArrayBuffer>, at: number) => void,
): void {
  const numRows = packedRowsOf(tensor);
  for (const [i, { offset, length }] of sectionsOf({ tensors: [tensor] }).entries()) {
    const part = parts[i];
    if (part) write(part, offset + firstRow * (length / numRows));
  }
}
