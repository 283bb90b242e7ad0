import { memoryFile, type CheckpointFiles } from '../formats/checkpoint-files.ts';
import { underPolicy } from '../../base/policy-reports.ts';
import { ChunkedFile } from '../formats/chunked-file.ts';
import { readChunks } from '../../../platform/read-chunks.ts';
import { fileBlocked } from '../../../protocol/errors/file-messages.ts';
import { configMissing, modelFileMissing } from '../../../protocol/errors/model-messages.ts';

export type ReportBytes = (loaded: number, total: number) => void;

const NOT_FOUND = 404;

const PAGE = /^<(?:!doctype html|html)\b/i;
/** The longest beginning of a file that shows whether it is a page, in bytes. */
const PAGE_HEAD = 256;

const EMBEDDED_BY_BUNDLER = /^data:[^,]*;base64,/;

/**
 * Files of a model on a server. Each is fetched whole when it is opened; weights can be read once. A page in the place of a file counts as no file, because
 * servers of single-page apps answer every address with the app's page.
 *
 * @param addressOf The absolute URL of a file; undefined if the model has no such file.
 * @param report Called with bytes while the weights are downloaded.
 */
export function servedFiles(
  addressOf: (name: string) => string | undefined,
  report: ReportBytes,
): CheckpointFiles {
  const pages = new Set<string>();
  return {
    async open(name) {
      const url = addressOf(name);
      if (url === undefined) return undefined;
      if (EMBEDDED_BY_BUNDLER.test(url)) return memoryFile(name, decodeDataUrl(url));
      const response = await fetchFile(url);
      if (response.status === NOT_FOUND) return undefined;
      if (!response.ok) throw modelFileMissing(url, `HTTP status ${response.status}`);
      const isLarge = name.endsWith('.safetensors');
      const chunks = await readBody(response, url, isLarge ? report : () => {});
      if (isPage(response, chunks)) {
        pages.add(name);
        return undefined;
      }
      return isLarge ? new ChunkedFile(name, chunks) : memoryFile(name, await joined(chunks));
    },
    missing(name, detail) {
      const url = addressOf(name) ?? name;
      const reason = pages.has(name) ? 'the server answered with a web page instead' : detail;
      return name === 'config.json' ? configMissing(url, reason) : modelFileMissing(url, reason);
    },
  };
}

/** Bundlers write small files into the script. Fetching them would need `data:` in the Content-Security-Policy. */
function decodeDataUrl(url: string): Uint8Array {
  return Uint8Array.from(atob(url.replace(EMBEDDED_BY_BUNDLER, '')), (character) => character.charCodeAt(0));
}

function isPage({ headers }: Response, chunks: readonly Uint8Array[]): boolean {
  const decoder = new TextDecoder();
  let head = '';
  for (const chunk of chunks) {
    head += decoder.decode(chunk.subarray(0, PAGE_HEAD), { stream: true });
    if (head.length >= PAGE_HEAD) break;
  }
  head = head.trimStart();
  return (
    PAGE.test(head) || (head.startsWith('<') && headers.get('content-type')?.startsWith('text/html') === true)
  );
}

function fetchFile(url: string): Promise<Response> {
  return underPolicy(url, async (readBlocked) => {
    try {
      return await fetch(url);
    } catch (cause) {
      const blocked = await readBlocked();
      if (blocked !== undefined) throw fileBlocked(url, blocked, cause);
      // Offline, the browser's cache may have the file from an earlier tab.
      const cached = await fetch(url, { cache: 'only-if-cached', mode: 'same-origin' }).catch(
        () => undefined,
      );
      if (cached?.ok) return cached;
      throw modelFileMissing(url, 'the server cannot be reached', cause);
    }
  });
}

async function joined(chunks: readonly Uint8Array<ArrayBuffer>[]): Promise<Uint8Array> {
  return new Uint8Array(await new Blob([...chunks]).arrayBuffer());
}

async function readBody(
  response: Response,
  url: string,
  report: ReportBytes,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
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
    throw modelFileMissing(url, `the connection was cut after ${loaded} bytes`, cause);
  }
  return chunks;
}
