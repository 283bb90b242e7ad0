import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

import { LOCAL_OWNER } from '../../src/protocol/bridge-names.ts';

/** A file of a model, as it was when the server started. */
export interface LocalFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly mtimeMs: number;
}

/** A model on this machine's disk, which the bridge serves to its page as a hub does. */
export class LocalModel {
  readonly id: string;
  /** Changes with the place, the names, the sizes and the times of the files. */
  readonly revision: string;
  /** By their names in the model's folder. */
  readonly files: ReadonlyMap<string, LocalFile>;
  /** By name. A digest reads the whole file, so none is made for a model that the browser has stored. */
  readonly #digests = new Map<string, Promise<string>>();

  constructor(name: string, files: LocalModel['files']) {
    this.id = `${LOCAL_OWNER}/${name}`;
    this.files = files;
    this.revision = createHash('sha256')
      .update(JSON.stringify([...files]))
      .digest('hex')
      .slice(0, 40);
  }

  /** Whether all files are as they were. */
  async isUnchanged(): Promise<boolean> {
    const areSame = await Promise.all([...this.files.values()].map(isSame));
    return areSame.every(Boolean);
  }

  /** The SHA-256 of a file, in hex. */
  digestOf(name: string, { path }: LocalFile): Promise<string> {
    const digest = this.#digests.get(name) ?? readDigest(path);
    this.#digests.set(name, digest);
    digest.catch(() => this.#digests.delete(name));
    return digest;
  }
}

async function isSame({ path, size, mtimeMs }: LocalFile): Promise<boolean> {
  const now = await stat(path).catch(() => undefined);
  return now?.size === size && now.mtimeMs === mtimeMs;
}

async function readDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
