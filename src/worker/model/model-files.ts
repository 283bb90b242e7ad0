import { ModelFileCorruptError, ModelFileMissingError } from './errors.ts';

/** The files of one model folder, in the hub's layout. */
export interface ModelFiles {
  readonly config: unknown;
  readonly generationConfig: unknown;
  readonly tokenizer: unknown;
  readonly tokenizerConfig: unknown;
  /** `model.safetensors`, whole. */
  readonly weights: Uint8Array;
}

export type ReportBytes = (loaded: number, total: number) => void;

/**
 * Fetches a model folder: the small JSON files first, then the weights with progress in bytes.
 *
 * @param folderUrl Absolute URL that ends in `/`.
 * @throws ModelFileMissingError for a file that cannot be read, ModelFileCorruptError for JSON that does not parse.
 */
export async function fetchModelFiles(folderUrl: string, report: ReportBytes): Promise<ModelFiles> {
  const [config, generationConfig, tokenizer, tokenizerConfig] = await Promise.all(
    ['config.json', 'generation_config.json', 'tokenizer.json', 'tokenizer_config.json'].map((name) =>
      fetchJson(folderUrl, name),
    ),
  );
  const weights = await fetchBytes(new URL('model.safetensors', folderUrl).href, report);
  return { config, generationConfig, tokenizer, tokenizerConfig, weights };
}

async function fetchJson(folderUrl: string, name: string): Promise<unknown> {
  const response = await fetchFile(new URL(name, folderUrl).href);
  try {
    return (await response.json()) as unknown;
  } catch (cause) {
    throw ModelFileCorruptError.of(name, 'it is not JSON', cause);
  }
}

async function fetchBytes(url: string, report: ReportBytes): Promise<Uint8Array> {
  const response = await fetchFile(url);
  // With a content encoding the length counts encoded bytes, so it can be exceeded; it is only shown, never trusted.
  const announced = Number(response.headers.get('content-length') ?? 0);
  const chunks: Uint8Array[] = [];
  let loaded = 0;
  let reported = 0;
  try {
    for await (const chunk of response.body ?? []) {
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

async function fetchFile(url: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw ModelFileMissingError.of(url, 'the server cannot be reached', cause);
  }
  if (!response.ok) throw ModelFileMissingError.of(url, `HTTP status ${response.status}`);
  return response;
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
