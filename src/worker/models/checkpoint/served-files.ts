import { memoryFile, type CheckpointFiles } from './checkpoint-files.ts';
import { ModelFileMissingError } from '../../../protocol/errors/model.ts';
import { readChunks } from '../../../platform/read-chunks.ts';

export type ReportBytes = (loaded: number, total: number) => void;

const NOT_FOUND = 404;

/**
 * The files of a served model folder. Each is fetched whole when it is opened.
 *
 * @param folderUrl Absolute URL that ends in `/`.
 * @param report Called with bytes while the weights are downloaded.
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
    // Offline, the browser's cache may have the file from an earlier tab.
    const cached = await fetch(url, { cache: 'only-if-cached', mode: 'same-origin' }).catch(() => undefined);
    if (cached?.ok) return cached;
    throw ModelFileMissingError.of(url, 'the server cannot be reached', cause);
  }
}

async function readBody(response: Response, url: string, report: ReportBytes): Promise<Uint8Array> {
  // The length counts encoded bytes, so the body may be longer.
  const announced = Number(response.headers.get('content-length') ?? 0);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let loaded = 0;
  let reported = 0;
  try {
    for await (const chunk of readChunks(response.body)) {
      chunks.push(chunk);
      loaded += chunk.byteLength;
      // A hundred reports suffice.
      if (loaded - reported < announced / 100) continue;
      reported = loaded;
      report(loaded, Math.max(announced, loaded));
    }
  } catch (cause) {
    throw ModelFileMissingError.of(url, `the connection was cut after ${loaded} bytes`, cause);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
