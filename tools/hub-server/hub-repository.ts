import { createHash, type Hash } from 'node:crypto';

/** Bytes as the hub has them; of a large file not all are in memory at once. */
export interface HubContent {
  readonly size: number;
  /** @returns The bytes from `begin` to `end`, exclusive. */
  read(begin: number, end: number): Uint8Array | Promise<Uint8Array>;
  /** Where it is known already: a file of GPT-2's size takes seconds to read. */
  readonly sha256?: string;
}

/** A file of a model, and what the hub says of it. */
export interface HubFile extends Omit<HubContent, 'sha256'> {
  /** Git's id of the file. For a large file it is the id of its pointer. */
  readonly oid: string;
  /** SHA-256 of a large file. */
  readonly sha256: string | undefined;
}

export interface HubRepository {
  /** `owner/name`. */
  readonly id: string;
  readonly commit: string;
  readonly files: ReadonlyMap<string, HubFile>;
}

const STEP_BYTES = 4 * 1024 * 1024;

/** As on the hub, weights are large files: they are served from elsewhere, and known by their SHA-256. */
export async function createRepository(
  id: string,
  contents: ReadonlyMap<string, HubContent | Uint8Array>,
): Promise<HubRepository> {
  const files = new Map<string, HubFile>();
  for (const [path, content] of contents) {
    files.set(path, await describe(path, content instanceof Uint8Array ? inMemory(content) : content));
  }
  const commit = createHash('sha1')
    .update(JSON.stringify([id, ...files]))
    .digest('hex');
  return { id, commit, files };
}

function inMemory(bytes: Uint8Array): HubContent {
  return { size: bytes.byteLength, read: (begin, end) => bytes.subarray(begin, end) };
}

async function describe(path: string, content: HubContent): Promise<HubFile> {
  const { size } = content;
  const read = content.read.bind(content);
  if (!/\.(?:safetensors|gguf)$/.test(path)) {
    const oid = await digestOf(createHash('sha1').update(`blob ${size}\0`), content);
    return { size, read, oid, sha256: undefined };
  }
  const sha256 = content.sha256 ?? (await digestOf(createHash('sha256'), content));
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size}\n`;
  const oid = createHash('sha1').update(`blob ${pointer.length}\0${pointer}`).digest('hex');
  return { size, read, oid, sha256 };
}

async function digestOf(hash: Hash, content: HubContent): Promise<string> {
  const { size } = content;
  for (let begin = 0; begin < size; begin += STEP_BYTES) {
    hash.update(await content.read(begin, Math.min(begin + STEP_BYTES, size)));
  }
  return hash.digest('hex');
}
