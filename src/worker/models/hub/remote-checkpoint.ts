import { createSHA1, createSHA256, type IHasher } from 'hash-wasm';
import { memoryFile, type CheckpointFiles, type RandomAccessFile } from '../formats/checkpoint-files.ts';
import type { WeightFile } from '../checkpoint/checkpoint.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { bytesIn, missingRanges, splitRanges, type ByteRange } from '../formats/byte-ranges.ts';
import { download } from './download.ts';
import type { HubClient } from './hub-client.ts';
import type { HubFile, HubSnapshot } from './hub-snapshot.ts';
import type { Parts } from '../store/parts.ts';
import type { PartFile } from '../store/part-file.ts';

interface RemoteCheckpointOptions {
  readonly client: HubClient;
  readonly snapshot: HubSnapshot;
  readonly parts: Parts;
  readonly signal: AbortSignal;
}

interface OpenFile extends HubFile {
  readonly part: PartFile;
  /** Set while the file is streamed. */
  stream?: Stream;
}

/** A file that is read while its bytes arrive. */
interface Stream extends WeightFile {
  readonly digest: IHasher;
  /** Bytes from the start of the file that are in the digest. */
  numHashed: number;
  /** Resolves when all bytes are here. */
  readonly whole: Promise<void>;
}

/** Bytes hashed in one go; other work runs in between. */
const STEP_BYTES = 4 * 1024 * 1024;

/**
 * Bytes that come with the first ones of a file, in one round trip: mostly its header. All of a GGUF file is needed, and its header
 * has the tokenizer.
 */
const READ_AHEAD = { safetensors: 64 * 1024, gguf: 4 * 1024 * 1024 };

/** A checkpoint on a hub. Bytes are fetched when they are read, and kept in part files until the model is converted. */
export class RemoteCheckpoint implements CheckpointFiles {
  readonly #options: RemoteCheckpointOptions;
  readonly #open = new Map<string, OpenFile>();
  readonly #pending = new Set<Promise<unknown>>();

  constructor(options: RemoteCheckpointOptions) {
    this.#options = options;
  }

  /** Fetches a JSON file completely and verifies it; a weight file is fetched as it is read. */
  open(name: string): Promise<RandomAccessFile | undefined> {
    const opening = this.#openFile(name);
    this.#pending.add(opening);
    return opening;
  }

  /** Resolves when no file is being opened: after a failure, others may still be opening. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#pending);
  }

  async #openFile(name: string): Promise<RandomAccessFile | undefined> {
    const { parts, snapshot } = this.#options;
    const facts = snapshot.files.get(name);
    if (!facts) return undefined;
    const file = this.#open.get(name) ?? { ...facts, part: await parts.open(name, facts.size) };
    this.#open.set(name, file);
    const [, format] = /\.(safetensors|gguf)$/.exec(name) ?? [];
    if (format === 'safetensors' || format === 'gguf') {
      await this.#download(file, [{ begin: 0, end: Math.min(facts.size, READ_AHEAD[format]) }], () => {});
      return { name, size: facts.size, read: (begin, end) => this.#read(file, begin, end) };
    }
    return memoryFile(name, await this.#fetchWhole(file));
  }

  /** The number of needed bytes that are not here yet. */
  missingBytes(weightFiles: readonly WeightFile[]): number {
    return bytesIn(
      weightFiles.flatMap(({ file, neededRanges }) => this.#fileOf(file).part.missing(neededRanges)),
    );
  }

  /** Reserves storage for the weight files. @throws StorageQuotaError if there is less. */
  reserve(weightFiles: readonly WeightFile[]): void {
    for (const { file } of weightFiles) this.#fileOf(file).part.reserve();
  }

  /**
   * Fetches the weight files while `convert` reads them, best from front to back. Then compares them with their digests: the bytes of
   * a digest are those that were read.
   *
   * @param onBytes Called for every chunk that has arrived.
   * @throws ModelFileCorruptError if a file is another one. Then what was made of it must not be kept.
   */
  async stream(
    weightFiles: readonly WeightFile[],
    onBytes: (numBytes: number) => void,
    convert: () => Promise<unknown>,
  ): Promise<void> {
    const { promise: whole, resolve } = Promise.withResolvers<void>();
    for (const weightFile of weightFiles) {
      const file = this.#fileOf(weightFile.file);
      fillIn(file.part, weightFile.skippedTensors);
      file.stream = { ...weightFile, digest: await createDigest(file), numHashed: 0, whole };
    }
    resolve(this.#downloadAll(weightFiles, onBytes));
    // Reads pass its failure on, and none may be waiting at that moment.
    whole.catch(() => {});
    this.#pending.add(whole);
    await convert();
    for (const { file } of weightFiles) await this.#verify(this.#fileOf(file));
  }

  async #downloadAll(weightFiles: readonly WeightFile[], onBytes: (numBytes: number) => void): Promise<void> {
    for (const { file, neededRanges } of weightFiles)
      await this.#download(this.#fileOf(file), neededRanges, onBytes);
  }

  async #verify(file: OpenFile): Promise<void> {
    const { stream, size } = file;
    if (!stream) return;
    await this.#hash(file, stream, size);
    if (stream.digest.digest() === file.digest.hex) return;
    // A skipped tensor may have unexpected contents. Only the digest needs them.
    if (file.part.missing(stream.skippedTensors).length > 0) {
      await this.#download(file, stream.skippedTensors, () => {});
      if (await this.#matches(file)) return;
    }
    throw corrupt(file);
  }

  #fileOf({ name }: RandomAccessFile): OpenFile {
    const file = this.#open.get(name);
    if (!file) throw new Error(`Expected ${name} to be open`);
    return file;
  }

  async #read(file: OpenFile, begin: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const { stream } = file;
    if (!stream) {
      await this.#download(file, [{ begin, end }], () => {});
      return this.#take(file, begin, end);
    }
    await this.#hash(file, stream, begin);
    await arrival(file.part, stream, { begin, end });
    const bytes = await this.#take(file, begin, end);
    if (stream.numHashed < end) {
      stream.digest.update(bytes.subarray(stream.numHashed - begin));
      stream.numHashed = end;
    }
    return bytes;
  }

  /** Adds the bytes up to `end` to the digest, if they aren't in it. */
  async #hash(file: OpenFile, stream: Stream, end: number): Promise<void> {
    for (const range of splitRanges([{ begin: stream.numHashed, end }], STEP_BYTES)) {
      await arrival(file.part, stream, range);
      stream.digest.update(await this.#take(file, range.begin, range.end));
      stream.numHashed = range.end;
    }
  }

  /** Other work of the worker runs in between. */
  async #take({ part }: OpenFile, begin: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    await yieldToHost();
    this.#options.signal.throwIfAborted();
    return part.read(begin, end);
  }

  async #fetchWhole(file: OpenFile): Promise<Uint8Array> {
    const whole = { begin: 0, end: file.size };
    await this.#download(file, [whole], () => {});
    if (!(await this.#matches(file))) throw corrupt(file);
    return file.part.read(0, file.size);
  }

  async #download(
    { path, part }: OpenFile,
    needed: WeightFile['neededRanges'],
    onBytes: (numBytes: number) => void,
  ): Promise<void> {
    const { client, snapshot, signal } = this.#options;
    await download({ client, commit: snapshot.commit, path, part, needed, signal, onBytes });
  }

  async #matches(file: OpenFile): Promise<boolean> {
    const digest = await createDigest(file);
    for (const { begin, end } of splitRanges([{ begin: 0, end: file.size }], STEP_BYTES))
      digest.update(await this.#take(file, begin, end));
    return digest.digest() === file.digest.hex;
  }
}

/** Resolves when the range is here. @throws What the download throws. */
async function arrival(part: PartFile, stream: Stream, range: ByteRange): Promise<void> {
  const wanted = missingRanges([range], stream.skippedTensors);
  while (part.missing(wanted).length > 0) await Promise.race([part.nextRecord, stream.whole]);
}

/** Writes without recording: a skipped tensor counts as missing until it has come from the hub. */
function fillIn(part: PartFile, skippedTensors: WeightFile['skippedTensors']): void {
  for (const tensor of skippedTensors) {
    if (part.missing([tensor]).length > 0) part.write(tensor.begin, tensor.contents());
  }
}

function corrupt({ path, digest }: HubFile): ModelFileCorruptError {
  const name = digest.algorithm === 'sha256' ? 'SHA-256' : 'git blob id';
  return ModelFileCorruptError.of(path, `its ${name} is not ${digest.hex}`);
}

/** The digest of a file, to which its bytes are still to be added in pieces; the platform's digests need the file whole. */
export async function createDigest({ size, digest }: Pick<HubFile, 'size' | 'digest'>): Promise<IHasher> {
  if (digest.algorithm === 'sha256') return (await createSHA256()).init();
  // A git blob id covers a header with kind and length.
  return (await createSHA1()).init().update(`blob ${size}\0`);
}
