import { memoryFile, type CheckpointFiles } from './checkpoint/checkpoint-files.ts';
import { ModelFileMissingError } from '../protocol/errors/model.ts';
import { readChunks } from './read-chunks.ts';

export type ReportBytes = (loaded: number, total: number) => void;

const NOT_FOUND = 404;

/**
 * The files of a served model folder, each fetched whole when it is opened.
 *
 * @param folderUrl Absolute URL that ends in `/`.
 * @param report Called as the weights come, with bytes.
 */
export function servedFolder(folderUrl: string, report: ReportBytes): CheckpointFiles {
  return {
    async open(name) {
      const url = new URL(name, folderUrl).href;
      const response = await fetchFile(url);
      if (response.status === NOT_FOUND) return undefined;
      if (!response.ok) throw ModelFileMissingError.of(url, `HTTP status ${response.status}`);
      const isLarge = name.endsWith('.safetensors');
      return memoryFile(name, await readBody(response, url, isLarge ? report : () => {}));
    },
  };
}

async function fetchFile(url: string): Promise<Response> {
  try {
    return await fetch(url);
  } catch (cause) {
    // Offline, the browser's cache may have what a tab before this one has fetched.
    const cached = await fetch(url, { cache: 'only-if-cached', mode: 'same-origin' }).catch(() => undefined);
    if (cached?.ok) return cached;
    throw ModelFileMissingError.of(url, 'the server cannot be reached', cause);
  }
}

async function readBody(response: Response, url: string, report: ReportBytes): Promise<Uint8Array> {
  // With a content encoding the length counts encoded bytes, so it can be exceeded; it is only shown, never trusted.
  const announced = Number(response.headers.get('content-length') ?? 0);
  const chunks: Uint8Array[] = [];
  let loaded = 0;
  let reported = 0;
  try {
    for await (const chunk of readChunks(response.body)) {
      chunks.push(chunk);
      loaded += chunk.byteLength;
      // A hundred reports are as smooth as thousands.
      if (loaded - reported < announced / 100) continue;
      reported = loaded;
      report(loaded, Math.max(announced, loaded));
    }
  } catch (cause) {
    throw ModelFileMissingError.of(url, `the connection was cut after ${loaded} bytes`, cause);
  }
  return concatenate(chunks, loaded);
}

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let position = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, position);
    position += chunk.byteLength;
  }
  return bytes;
}
