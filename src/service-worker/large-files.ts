import type { PrecacheEntry } from 'serwist';

import { WASM_FILES } from '../worker/runtime/ort/ort-builds.ts';
import type { KeepMessage } from './keep-message.ts';

/** Megabytes each, and a page needs few of them: they are stored when it does, not when the service worker is installed. */
const LARGE = /^models\/|\.wasm$/;

/** The model files and the runtime's `.wasm` files of one version of the page. */
export class LargeFiles {
  /** Each file's key in the cache, by its address. A file whose name does not change has a key for each of its revisions. */
  readonly #keys: ReadonlyMap<string, string>;
  readonly #known: ReadonlySet<string>;

  /** @param folder Address of the page's folder, ending in `/`. */
  constructor(entries: readonly PrecacheEntry[], folder: string) {
    this.#keys = new Map(
      entries.map(({ url, revision }) => {
        const address = new URL(url, folder);
        const key = new URL(address);
        if (revision) key.searchParams.set('revision', revision);
        return [address.href, key.href];
      }),
    );
    this.#known = new Set(this.#keys.values());
  }

  /** Undefined for an address that is not one of a large file. */
  keyOf(address: string): string | undefined {
    return this.#keys.get(address);
  }

  hasKey(key: string): boolean {
    return this.#known.has(key);
  }

  /** Files that the page needs offline when the model runs on this backend: the models, and on WebGPU one `.wasm` file. */
  neededFor(backend: KeepMessage['backend']): readonly string[] {
    const runtime = `/${WASM_FILES.webgpu.replace(/\.wasm$/, '-')}`;
    return [...this.#keys.keys()].filter(
      (address) => !address.endsWith('.wasm') || (backend === 'webgpu' && address.includes(runtime)),
    );
  }
}

/** Splits the page's files into those that are stored at once, and the large ones. */
export function splitFiles(entries: readonly PrecacheEntry[]): {
  readonly small: PrecacheEntry[];
  readonly large: PrecacheEntry[];
} {
  const { small = [], large = [] } = Object.groupBy(entries, ({ url }) =>
    LARGE.test(url) ? 'large' : 'small',
  );
  return { small, large };
}
