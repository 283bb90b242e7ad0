const PAGE_BYTES = 2 ** 16;

/** 4 GiB, which 32 bits address. */
const MAX_PAGES = 2 ** 16;

/** Bytes to which each block is aligned: a line of the CPU's cache. */
const ALIGNMENT = 64;

/** Bytes of a `CpuMemory` that belong together. */
export interface Block {
  readonly address: number;
  readonly length: number;
}

/** The memory of one model's kernels: weights, keys and values, activations. It grows, and never shrinks. */
export class CpuMemory {
  readonly memory: WebAssembly.Memory;
  /** In order, none touching the next. */
  #free: readonly Block[] = [];
  #views: { readonly bytes: Uint8Array; readonly floats: Float32Array; readonly integers: Int32Array };

  /**
   * @param reserved Bytes at the start that kernels keep for themselves.
   * @param expected Bytes that will be allocated, all in all.
   * @param isShared Whether threads share it.
   * @throws RangeError where the machine has no such memory.
   */
  constructor(reserved: number, expected = 0, isShared = false) {
    const initial = Math.min(MAX_PAGES, Math.ceil((reserved + expected) / PAGE_BYTES));
    this.memory = new WebAssembly.Memory({ initial, maximum: MAX_PAGES, shared: isShared });
    this.#views = viewsOf(this.memory.buffer);
    const start = roundUp(reserved);
    this.#release({ address: start, length: this.byteLength - start });
  }

  get byteLength(): number {
    return this.memory.buffer.byteLength;
  }

  /** Valid until the next allocation, as `floats` and `integers`. */
  get bytes(): Uint8Array {
    return this.#current.bytes;
  }

  get floats(): Float32Array {
    return this.#current.floats;
  }

  get integers(): Int32Array {
    return this.#current.integers;
  }

  /** The values at an address. */
  floatsAt(address: number, length: number): Float32Array {
    return this.floats.subarray(address / 4, address / 4 + length);
  }

  /**
   * The values of the block are not initialized.
   *
   * @throws RangeError if the memory is full.
   */
  allocate(byteLength: number): Block {
    const length = roundUp(Math.max(1, byteLength));
    const found = this.#free.find((free) => free.length >= length);
    if (!found) {
      this.#growBy(length);
      return this.allocate(byteLength);
    }
    const rest = { address: found.address + length, length: found.length - length };
    this.#free = this.#free.flatMap((free) => (free === found ? (rest.length > 0 ? [rest] : []) : [free]));
    return { address: found.address, length };
  }

  /**
   * A block in place of another one, whose values are lost.
   *
   * @throws RangeError if the memory is full. The old block stays.
   */
  replace(old: Block | undefined, byteLength: number): Block {
    const before = this.#free;
    if (old) this.#release(old);
    try {
      return this.allocate(byteLength);
    } catch (error) {
      this.#free = before;
      throw error;
    }
  }

  free(block: Block): void {
    this.#release(block);
  }

  #growBy(length: number): void {
    const end = this.byteLength;
    const last = this.#free.at(-1);
    const unused = last && last.address + last.length === end ? last.length : 0;
    const numPages = Math.ceil((length - unused) / PAGE_BYTES);
    try {
      this.memory.grow(numPages);
    } catch (cause) {
      const wanted = Math.ceil((end + length - unused) / 1e6);
      throw new RangeError(`WASM memory allocation failed: it can't grow to ${wanted} MB`, { cause });
    }
    this.#release({ address: end, length: this.byteLength - end });
  }

  #release(block: Block): void {
    const joined: Block[] = [];
    for (const free of [...this.#free, block].toSorted((a, b) => a.address - b.address)) {
      const last = joined.at(-1);
      if (last && last.address + last.length === free.address)
        joined[joined.length - 1] = { address: last.address, length: last.length + free.length };
      else joined.push(free);
    }
    this.#free = joined;
  }

  /** A memory that has grown has another buffer. */
  get #current() {
    const { buffer } = this.memory;
    if (this.#views.bytes.buffer !== buffer) this.#views = viewsOf(buffer);
    return this.#views;
  }
}

function viewsOf(buffer: ArrayBufferLike) {
  return {
    bytes: new Uint8Array(buffer),
    floats: new Float32Array(buffer),
    integers: new Int32Array(buffer),
  };
}

function roundUp(byteLength: number): number {
  return ALIGNMENT * Math.ceil(byteLength / ALIGNMENT);
}
