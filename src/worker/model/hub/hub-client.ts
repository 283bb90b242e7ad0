import type { ByteRange } from '../checkpoint/checkpoint.ts';
import {
  HubRateLimitError,
  HubUnavailableError,
  HubUnreachableError,
  ModelAccessError,
  ModelNotFoundError,
} from './errors.ts';
import { readChunks } from '../read-chunks.ts';
import { parseRetryAfter, retry, type RetryOptions } from './retry.ts';

export interface HubClientOptions extends RetryOptions {
  /** Origin of the hub, without a slash at the end. */
  readonly hub: string;
  /** `owner/name`. */
  readonly id: string;
}

/** The server has sent the whole file where a part of it was asked for. */
export class RangesIgnoredError extends Error {
  override readonly name = 'RangesIgnoredError';
}

/** One model of one hub over HTTP: what goes wrong has a name, and what may get better is tried again. */
export class HubClient {
  readonly hub: string;
  readonly id: string;
  readonly #retryOptions: RetryOptions;

  constructor({ hub, id, ...retryOptions }: HubClientOptions) {
    this.hub = hub;
    this.id = id;
    this.#retryOptions = retryOptions;
  }

  /** As `fetch` for a request of the hub's API; every answer is a good one, with its body whole. */
  readonly fetch: typeof fetch = (input, init) =>
    this.retry(async () => {
      const response = await this.#send(String(input instanceof Request ? input.url : input), init);
      const body = await this.#read(() => response.arrayBuffer());
      return new Response(body, response);
    });

  /**
   * Begins to fetch a part of a file; nothing is tried again.
   *
   * @throws RangesIgnoredError where the answer is the whole file, and that is not what was asked for.
   */
  async openRange(
    commit: string,
    path: string,
    { begin, end }: ByteRange,
    signal = this.#retryOptions.signal,
  ): Promise<Response> {
    const headers = { Range: `bytes=${begin}-${end - 1}` };
    const response = await this.#send(`${this.hub}/${this.id}/resolve/${commit}/${path}`, {
      headers,
      signal,
    });
    if (response.status === 206) return response;
    const isWhole = begin === 0 && Number(response.headers.get('content-length')) === end;
    if (isWhole) return response;
    await response.body?.cancel();
    throw new RangesIgnoredError(`${this.hub} ignores ranges`);
  }

  /** The chunks of a body. @throws HubUnreachableError where it is cut off. */
  async *chunksOf(response: Response): AsyncGenerator<Uint8Array> {
    try {
      yield* readChunks(response.body);
    } catch (cause) {
      throw this.cut(cause);
    }
  }

  retry<Result>(
    attempt: (onProgress: () => void) => Promise<Result>,
    signal = this.#retryOptions.signal,
  ): Promise<Result> {
    return retry(attempt, { ...this.#retryOptions, signal });
  }

  /** The connection ended before its time. */
  cut(cause: unknown): HubUnreachableError {
    return HubUnreachableError.of(this.hub, cause);
  }

  async #send(url: string, init: RequestInit = {}): Promise<Response> {
    const { signal } = this.#retryOptions;
    // What is fetched is stored once; the browser's cache would store it again.
    const response = await this.#read(() => fetch(url, { signal, cache: 'no-store', ...init }));
    if (response.ok) return response;
    await response.body?.cancel();
    throw this.#errorOf(response);
  }

  async #read<Value>(read: () => Promise<Value>): Promise<Value> {
    try {
      return await read();
    } catch (cause) {
      throw this.cut(cause);
    }
  }

  #errorOf({ status, headers }: Response): Error {
    // A hub hides private models behind a 401, and names what it means.
    const reason = headers.get('x-error-code');
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), Date.now());
    if (status === 429) return HubRateLimitError.of(this.hub, retryAfterMs);
    if (status >= 500) return HubUnavailableError.of(this.hub, status, retryAfterMs);
    const missing = reason === null ? undefined : MISSING[reason];
    if (missing) return ModelNotFoundError.of(this.id, this.hub, missing);
    if (status === 401 || status === 403)
      return ModelAccessError.of(this.id, this.hub, status, reason === 'GatedRepo');
    if (status === 404) return ModelNotFoundError.of(this.id, this.hub, 'such file or model');
    return HubUnavailableError.of(this.hub, status, retryAfterMs);
  }
}

/** The hub's `x-error-code`, and what there is none of. */
const MISSING: Readonly<Record<string, string>> = {
  RepoNotFound: 'model under the name',
  RevisionNotFound: 'such revision',
  EntryNotFound: 'such file',
};
