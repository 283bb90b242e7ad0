import { textOf } from '../../../batching/base/errors.ts';
import { underPolicy } from '../../base/policy-reports.ts';
import { OnnxModelError } from '../../../protocol/errors/onnx.ts';
import { fileBlocked, onnxFileMissing } from '../../../protocol/errors/file-messages.ts';

/** A file, or the address of one, relative to the worker's script. */
export type OnnxSource = string | URL | Blob;

/** A file that lies beside a model, by its path there. */
export interface ExternalFile {
  readonly path: string;
  readonly data: Uint8Array;
}

/** Of onnx.proto: the initializers of a model's graph, and what a tensor says about its external data. */
const INITIALIZERS = [7, 5];
const EXTERNAL_DATA = [13];
/** Of onnx.proto: graph, input, type, tensor_type, shape, dim, dim_param. */
const INPUT_DIMENSIONS = [7, 11, 2, 1, 2, 1, 2];
const KEY = [1];
const VALUE = [2];

export async function readOnnxFile(source: OnnxSource): Promise<Uint8Array> {
  if (source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  const url = String(source);
  const response = await underPolicy(url, (readBlocked) =>
    fetch(source).catch(async (cause: unknown) => {
      const blocked = await readBlocked();
      if (blocked !== undefined) throw fileBlocked(url, blocked, cause);
      throw onnxFileMissing(url, cause instanceof Error ? cause.message : textOf(cause), cause);
    }),
  );
  if (!response.ok) throw onnxFileMissing(url, `HTTP status ${response.status}`);
  // Servers of single pages answer so for every path.
  if (response.headers.get('content-type')?.startsWith('text/html') === true)
    throw onnxFileMissing(url, 'its server answers with a web page');
  return new Uint8Array(await response.arrayBuffer());
}

/** @throws OnnxModelError where a file is missing beside the model, or only a part of it is there. */
export function checkExternalFiles(name: string, model: Uint8Array, given: readonly ExternalFile[]): void {
  for (const [path, numBytes] of externalFilesOf(model)) {
    const file = given.find((each) => plain(each.path) === plain(path));
    if (!file) {
      const keys = given.map((each) => each.path);
      throw OnnxModelError.withoutFile(name, path, keys);
    }
    const { byteLength } = file.data;
    if (byteLength < numBytes) throw OnnxModelError.ofCutFile(name, path, byteLength, numBytes);
  }
}

/** The files that a model names, with the bytes that it reads of each. None where the runtime is going to refuse the model. */
function externalFilesOf(model: Uint8Array): ReadonlyMap<string, number> {
  const files = new Map<string, number>();
  try {
    for (const tensor of fieldsAt(model, INITIALIZERS)) {
      const entries = [...fieldsAt(tensor, EXTERNAL_DATA)];
      const said = new Map(entries.map((entry) => [textAt(entry, KEY), textAt(entry, VALUE)]));
      const location = said.get('location');
      const end = Number(said.get('offset') ?? 0) + Number(said.get('length') ?? 0);
      if (location !== undefined) files.set(location, Math.max(files.get(location) ?? 0, end));
    }
  } catch (error) {
    if (error instanceof RangeError) return new Map();
    throw error;
  }
  return files;
}

/** The names of the dimensions of a model's inputs. The runtime no longer knows those that it was given lengths for. */
export function dimensionNames(model: Uint8Array): readonly string[] {
  const names = Array.from(fieldsAt(model, INPUT_DIMENSIONS), (name) => new TextDecoder().decode(name));
  return [...new Set(names)];
}

function textAt(entry: Uint8Array, path: readonly number[]): string {
  const [text] = fieldsAt(entry, path);
  return new TextDecoder().decode(text);
}

function plain(path: string): string {
  return path.replace(/^(?:\.\/)+/, '');
}

const VARINT = 0;
const LENGTH_DELIMITED = 2;
/** Bytes of the other wire types: 64 and 32 bits. Groups are of old versions. */
const SIZES: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/**
 * The parts of a protobuf message that lie behind these field numbers. A library's reader would be a tenth of the worker's start.
 *
 * @throws RangeError where it is none.
 */
export function* fieldsAt(message: Uint8Array, [wanted, ...path]: readonly number[]): Generator<Uint8Array> {
  if (wanted === undefined) {
    yield message;
    return;
  }
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; factor <= 2 ** 63; factor *= 2 ** 7) {
      const byte = message[at];
      if (byte === undefined) break;
      at += 1;
      // Of numbers above 2^53, which no length is, the last bits are lost.
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new RangeError('a varint has no end');
  };
  while (at < message.length) {
    const tag = varint();
    const type = tag % 8;
    const number = type === VARINT || type === LENGTH_DELIMITED ? varint() : 0;
    const size = type === LENGTH_DELIMITED ? number : type === VARINT ? 0 : SIZES[type];
    if (size === undefined || at + size > message.length) throw new RangeError(`field ${tag} has no end`);
    const part = message.subarray(at, at + size);
    at += size;
    if (type === LENGTH_DELIMITED && Math.floor(tag / 8) === wanted) yield* fieldsAt(part, path);
  }
}
