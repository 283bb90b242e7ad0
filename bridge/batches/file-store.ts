import { mkdir, readdir, readFile, rm, stat, type writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';

import { secondsNow } from '../http/exchange.ts';
import { createId, replaceFile } from './records.ts';
import { fileNotFound } from '../http/http-errors.ts';

const fileObject = v.object({
  id: v.string(),
  object: v.literal('file'),
  bytes: v.number(),
  created_at: v.number(),
  filename: v.string(),
  purpose: v.picklist(['batch', 'batch_output']),
  status: v.literal('processed'),
});

/** OpenAI's object of a file. */
export type FileObject = v.InferOutput<typeof fileObject>;

type Content = Parameters<typeof writeFile>[1];

/** Files and what is known of them, two files of a folder each. The second one is written last: without it there is no file. */
export class FileStore {
  readonly #folder: string;
  readonly #files = new Map<string, FileObject>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async open(folder: string): Promise<FileStore> {
    const store = new FileStore(folder);
    await mkdir(folder, { recursive: true });
    const records = (await readdir(folder)).filter((name) => name.endsWith('.json'));
    const texts = await Promise.all(records.map((name) => readFile(join(folder, name), 'utf8')));
    const files = texts.map((text) => v.parse(v.pipe(v.string(), v.parseJson(), fileObject), text));
    for (const file of files.toSorted(byAge)) store.#files.set(file.id, file);
    for (const name of await readdir(folder)) {
      const isKnown = store.#files.has(name.replace(/\.jsonl?$/, ''));
      if (!isKnown) await rm(join(folder, name));
    }
    return store;
  }

  /** The newest first. */
  get all(): readonly FileObject[] {
    return [...this.#files.values()].toReversed();
  }

  /** @throws HttpError 404. */
  get(id: string): FileObject {
    const file = this.#files.get(id);
    if (file) return file;
    throw fileNotFound(id);
  }

  contentPath(id: string): string {
    return join(this.#folder, `${id}.jsonl`);
  }

  /** Writes a content that belongs to no file yet. @returns Its id. */
  async write(content: Content, id: string = createId('file-')): Promise<string> {
    await replaceFile(this.contentPath(id), content);
    return id;
  }

  /** Makes a file of a content. */
  async add(
    id: string,
    { filename, purpose }: Pick<FileObject, 'filename' | 'purpose'>,
  ): Promise<FileObject> {
    const { size: bytes } = await stat(this.contentPath(id));
    const file: FileObject = {
      id,
      object: 'file',
      bytes,
      created_at: secondsNow(),
      filename,
      purpose,
      status: 'processed',
    };
    await replaceFile(join(this.#folder, `${id}.json`), JSON.stringify(file));
    this.#files.set(id, file);
    return file;
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.#folder, `${id}.json`), { force: true });
    this.#files.delete(id);
    await rm(this.contentPath(id), { force: true });
  }
}

/** Ids sort by time within a second. */
function byAge(a: FileObject, b: FileObject): number {
  return a.created_at - b.created_at || (a.id < b.id ? -1 : 1);
}
