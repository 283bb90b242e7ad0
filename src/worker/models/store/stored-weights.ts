import type { IHasher } from 'hash-wasm';
import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { lazyBytes } from '../checkpoint/packed-source.ts';
import {
  sectionsOf,
  type PackedLayout,
  type PackedSection,
  type PackedTensor,
} from '../checkpoint/packed-weights.ts';
import { packedRowsOf, type TakeRows, type WeightSource } from '../checkpoint/weight-source.ts';
import type { SyncFile } from '../../../platform/sync-file.ts';
import { createStoredHasher } from './stored-digest.ts';

/** Bytes that are read together, so that they are still in the CPU's cache when they are hashed and copied. */
const SLICE_BYTES = 2 ** 18;

/** Bytes to which each part of a slice is aligned. */
const ALIGNMENT = 64;

/** Reading goes on for this long without letting the worker see messages. */
const MAX_BUSY_MS = 4;

interface StoredWeightsOptions {
  readonly file: Pick<SyncFile, 'read'>;
  readonly layout: PackedLayout;
  /** One for each of `sectionsOf`. */
  readonly digests: readonly string[];
  /** Called with the number of bytes that were read. */
  readonly onRead: (numBytes: number) => void;
  /** Called before the read of a damaged section throws: onnxruntime-web drops that error for one of its own. */
  readonly onDamage: () => void;
}

/** The packed file of a stored model. What is read of it is compared with its digests. */
export class StoredWeights implements WeightSource {
  readonly #options: StoredWeightsOptions;
  readonly #sections: readonly PackedSection[];
  /** Of a tensor's sections. Their code comes while the runtime gets ready. */
  readonly #hashers: Promise<readonly IHasher[]>;

  constructor(options: StoredWeightsOptions) {
    this.#options = options;
    this.#sections = sectionsOf(options.layout);
    this.#hashers = Promise.all([0, 1, 2].map(createStoredHasher));
    // A failure is thrown by the read, if there is one.
    this.#hashers.catch(() => {});
  }

  /** Each section is read once and handed on. Memory for the largest section is enough. */
  async bytes(): Promise<Uint8Array> {
    const { layout, onRead } = this.#options;
    const [hasher] = await this.#hashers;
    const buffer = new Uint8Array(Math.max(0, ...this.#sections.map(({ length }) => length)));
    let held = -1;
    return lazyBytes(layout.size, (begin, end) => {
      const index = this.#sections.findIndex(
        ({ offset, length }) => begin >= offset && end <= offset + length,
      );
      const { offset = 0, length = 0 } = this.#sections[index] ?? {};
      const bytes = buffer.subarray(0, length);
      if (index !== held) {
        held = -1;
        this.#read(bytes, offset);
        this.#compare(index, hasher?.init().update(bytes).digest());
        held = index;
        onRead(length);
      }
      return bytes.subarray(begin - offset, end - offset);
    });
  }

  /** Reads some rows at a time, into the same memory. */
  async stream(take: TakeRows): Promise<void> {
    const hashers = await this.#hashers;
    const memory = new Uint8Array(Math.max(0, ...this.#options.layout.tensors.map(sliceBytesOf)));
    let first = 0;
    let yieldedAtMs = performance.now();
    for (const tensor of this.#options.layout.tensors) {
      const sections = sectionsOf({ tensors: [tensor] });
      for (const hasher of hashers) hasher.init();
      for (const rows of slicesOf(tensor, sections, memory)) {
        for (const [i, part] of rows.parts.entries()) {
          this.#read(part, rows.offsets[i] ?? 0);
          hashers[i]?.update(part);
        }
        take({ tensor, ...rows });
        if (performance.now() - yieldedAtMs < MAX_BUSY_MS) continue;
        await yieldToHost();
        yieldedAtMs = performance.now();
      }
      for (const i of sections.keys()) this.#compare(first + i, hashers[i]?.digest());
      this.#options.onRead(sections.reduce((sum, { length }) => sum + length, 0));
      first += sections.length;
    }
  }

  /** The digest tells of an end that is missing. */
  #read(bytes: Uint8Array<ArrayBuffer>, at: number): void {
    const numRead = this.#options.file.read(bytes, { at });
    bytes.fill(0, numRead);
  }

  #compare(section: number, digest: string | undefined): void {
    if (digest === this.#options.digests[section]) return;
    this.#options.onDamage();
    throw new Error(`The stored bytes from ${this.#sections[section]?.offset ?? 0} on are damaged`);
  }
}

interface Slice {
  readonly firstRow: number;
  readonly numRows: number;
  /** One for each section. */
  readonly parts: readonly Uint8Array<ArrayBuffer>[];
  /** Where the parts begin in the file. */
  readonly offsets: readonly number[];
}

/** Rows of a tensor, a few at a time: the places of their bytes, and where they go in `memory`, into which the next slice is read too. */
function* slicesOf(
  tensor: PackedTensor,
  sections: readonly PackedSection[],
  memory: Uint8Array<ArrayBuffer>,
): Generator<Slice> {
  const numRows = packedRowsOf(tensor);
  const rowsAtOnce = rowsAtOnceOf(tensor);
  for (let firstRow = 0; firstRow < numRows; firstRow += rowsAtOnce) {
    const count = Math.min(rowsAtOnce, numRows - firstRow);
    let end = 0;
    const parts = sections.map(({ length }) => {
      const begin = roundUp(end);
      end = begin + (count * length) / numRows;
      return memory.subarray(begin, end);
    });
    const offsets = sections.map(({ offset, length }) => offset + (firstRow * length) / numRows);
    yield { firstRow, numRows: count, parts, offsets };
  }
}

function rowsAtOnceOf(tensor: PackedTensor): number {
  const numRows = packedRowsOf(tensor);
  const bytes = sectionsOf({ tensors: [tensor] }).reduce((sum, { length }) => sum + length, 0);
  return Math.max(1, Math.min(numRows, Math.floor((SLICE_BYTES * numRows) / bytes)));
}

/** Memory for one slice of a tensor. */
function sliceBytesOf(tensor: PackedTensor): number {
  const share = rowsAtOnceOf(tensor) / packedRowsOf(tensor);
  return sectionsOf({ tensors: [tensor] }).reduce((sum, { length }) => sum + roundUp(length * share), 0);
}

/** Parts may be read as floats. */
function roundUp(length: number): number {
  return ALIGNMENT * Math.ceil(length / ALIGNMENT);
}
