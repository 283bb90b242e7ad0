import { createHash, type Hash } from 'node:crypto';

import { fileOf, type GeneratedFile } from './checkpoints/generated-file.ts';

export interface HubContent extends GeneratedFile {
  /** Where it is known already: a file of GPT-2's size takes seconds to read. */
  readonly sha256?: string;
}

/** A file of a model, and what the hub says of it. */
export interface HubFile extends Omit<HubContent, 'sha256'> {
  /** Git's id of the file. For a large file it is the id of its pointer. */
  readonly oid: string;
  readonly sha256: string | undefined;
}

export interface HubRepository {
  /** `owner/name`. */
  readonly id: string;
  readonly commit: string;
  readonly files: ReadonlyMap<string, HubFile>;
}

const STEP_BYTES = 4 * 1024 * 1024;

/** As on the hub, weights are large files: served from elsewhere, and known by their SHA-256. Files are read once they are asked for. */
export function createRepository(
  id: string,
  contents: ReadonlyMap<string, HubContent | Uint8Array>,
): HubRepository {
  const files = new Map<string, HubFile>();
  let commit: string | undefined;
  return {
    id,
    get files() {
      for (const [path, content] of files.size > 0 ? [] : contents)
        files.set(path, describe(path, content instanceof Uint8Array ? fileOf(content) : content));
      return files;
    },
    get commit() {
      commit ??= createHash('sha1')
        .update(JSON.stringify([id, ...this.files]))
        .digest('hex');
      return commit;
    },
  };
}

function describe(path: string, content: HubContent): HubFile {
  const { size } = content;
  const read = content.read.bind(content);
  if (!/\.(?:safetensors|gguf)$/.test(path)) {
    const oid = digestOf(createHash('sha1').update(`blob ${size}\0`), content);
    return { size, read, oid, sha256: undefined };
  }
  const sha256 = content.sha256 ?? digestOf(createHash('sha256'), content);
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size}\n`;
  const oid = createHash('sha1').update(`blob ${pointer.length}\0${pointer}`).digest('hex');
  return { size, read, oid, sha256 };
}

function digestOf(hash: Hash, content: HubContent): string {
  const { size } = content;
  for (let begin = 0; begin < size; begin += STEP_BYTES) {
    hash.update(content.read(begin, Math.min(begin + STEP_BYTES, size)));
  }
  return hash.digest('hex');
}
