import { setDeadline } from '../../../batching/base/clock.ts';
import type { ByteRange } from '../formats/byte-ranges.ts';
import { HubAnswerError } from '../../../protocol/errors/hub.ts';
import { readChunks } from '../../../platform/read-chunks.ts';
import { underPolicy } from '../../base/policy-reports.ts';
import { parseRetryAfter, retry, type RetryOptions } from './retry.ts';
import {
  accessDenied,
  badAnswer,
  forbidden,
  gated,
  notFound,
  offline,
  rateLimited,
  redirectFailed,
  redirectForbidden,
  unavailable,
  unreachable,
  webPage,
} from './hub-errors.ts';

/** Limit for the headers of a file, for the silence before each of its chunks, and for a whole answer of the API. */
const ANSWER_LIMIT_MS = 15_000;

/** Fewer than for files: the user sees no progress yet. */
const MAX_API_FAILURES = 3;

export interface HubClientOptions extends Omit<RetryOptions, 'maxFailures'> {
  /** Origin of the hub, without a slash at the end. */
  readonly hub: string;
  /** `owner/name`. */
  readonly id: string;
}

/** The model is stored anyway: the browser's cache would be a second copy. */
const UNCACHED: RequestInit = { cache: 'no-store' };

/** A file, with its size in bytes as the hub's list of files has it. */
interface ListedFile {
  readonly path: string;
  readonly size: number;
}

/** The server sends the whole file instead of the requested range. */
export class RangesIgnoredError extends Error {
  override readonly name = 'RangesIgnoredError';
}

/** Requests to one model of a hub over HTTP. Failures become typed errors, and transient ones are retried. */
export class HubClient {
  readonly hub: string;
  readonly id: string;
  readonly #retryOptions: Omit<RetryOptions, 'maxFailures'>;

  constructor({ hub, id, ...retryOptions }: HubClientOptions) {
    this.hub = hub;
    this.id = id;
    this.#retryOptions = retryOptions;
  }

  /** Asks the hub's API for `what`, with retries. The answer is a success, with its body complete. */
  fetch(url: string, what: string): Promise<Response> {
    const ask = (): Promise<Response> => {
      const { signal, within } = this.#limit(this.#retryOptions.signal);
      return within(async () => {
        const response = await this.#send(url, what, signal);
        return new Response(await response.arrayBuffer().catch(this.#cut), response);
      });
    };
    return retry(ask, { ...this.#retryOptions, maxFailures: MAX_API_FAILURES });
  }

  /**
   * The chunks of a part of a file, without retries. The answer is cancelled at the last byte of the range: some servers send
   * more than was asked for.
   *
   * @throws RangesIgnoredError if the server sends the whole file instead; HubUnreachableError if the answer is cut off;
   *   HubAnswerError if it isn't the file that the hub has listed.
   */
  async *readRange(
    commit: string,
    file: ListedFile,
    { begin, end }: ByteRange,
    cancelled: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const { signal, within } = this.#limit(cancelled);
    const headers = { Range: `bytes=${begin}-${end - 1}` };
    const path = file.path.split('/').map(encodeURIComponent).join('/');
    const url = `${this.hub}/${this.id}/resolve/${commit}/${path}`;
    const response = await within(() => this.#send(url, file.path, signal, headers));
    const isPart = response.status === 206;
    const foundSize = sizeOf(response) ?? file.size;
    const refusal =
      foundSize !== file.size
        ? this.#wrongSize(file, foundSize)
        : !isPart && end - begin < file.size
          ? new RangesIgnoredError(`${this.hub} ignores ranges`)
          : undefined;
    if (refusal) {
      await response.body?.cancel();
      throw refusal;
    }
    const chunks = readChunks(response.body);
    try {
      for (let numMissing = end - begin; numMissing > 0;) {
        const { value, done } = await within(() => chunks.next()).catch(this.#cut);
        // Without ranges, an answer that ends is the whole file.
        if (done && !isPart) throw this.#wrongSize(file, file.size - numMissing);
        if (done) this.#cut(undefined);
        const wanted = value.subarray(0, numMissing);
        numMissing -= wanted.byteLength;
        yield wanted;
      }
    } finally {
      await chunks.return(undefined);
    }
  }

  retry<Result>(attempt: (onProgress: () => void) => Promise<Result>, signal: AbortSignal): Promise<Result> {
    return retry(attempt, { ...this.#retryOptions, signal });
  }

  /** Some servers accept a connection and never answer, or stop in the middle. `within` then aborts the signal. */
  #limit(cancelled: AbortSignal) {
    const limit = new AbortController();
    const giveUp = (): void =>
      limit.abort(new DOMException(`Nothing came for ${ANSWER_LIMIT_MS} ms`, 'TimeoutError'));
    return {
      signal: AbortSignal.any([cancelled, limit.signal]),
      within: async <Value>(run: () => Promise<Value>): Promise<Value> => {
        const cancel = setDeadline(this.#retryOptions.clock, ANSWER_LIMIT_MS, giveUp);
        try {
          return await run();
        } finally {
          cancel();
        }
      },
    };
  }

  async #send(
    url: string,
    what: string,
    signal: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const response = await underPolicy(url, (readBlocked) =>
      fetch(url, { ...UNCACHED, signal, headers }).catch(async (cause: unknown) => {
        if (signal.aborted) return this.#cut(cause);
        const redirects = await isRedirect(url, signal);
        const isBlocked = (await readBlocked()) !== undefined;
        if (redirects) throw (isBlocked ? redirectForbidden : redirectFailed)(this.hub, what, cause);
        if (isBlocked) throw forbidden(this.hub, cause);
        return this.#cut(cause);
      }),
    );
    const isPage = response.headers.get('content-type')?.startsWith('text/html');
    if (response.ok && !isPage) return response;
    await response.body?.cancel();
    throw response.ok ? webPage(this.hub, what) : this.#errorOf(response, what);
  }

  readonly #cut = (cause: unknown): never => {
    throw navigator.onLine ? unreachable(this.hub, cause) : offline(this.hub, cause);
  };

  #wrongSize({ path, size }: ListedFile, foundSize: number): HubAnswerError {
    return badAnswer(this.hub, `${path} has ${foundSize} bytes there, and ${size} in its list of files`);
  }

  #errorOf({ status, headers }: Response, what: string): Error {
    // A hub answers 401 for missing and private models, with the reason in this header.
    const reason = headers.get('x-error-code');
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), Date.now());
    if (status === 511) return webPage(this.hub, what);
    if (status === 416) return badAnswer(this.hub, `${what} is shorter than in its list of files`);
    if (status === 429) return rateLimited(this.hub, retryAfterMs);
    if (status >= 500) return unavailable(this.hub, status, retryAfterMs);
    const missing = reason === null ? undefined : MISSING.get(reason);
    if (missing) return notFound(this.id, this.hub, missing);
    if (status === 401 || status === 403)
      return (reason === 'GatedRepo' ? gated : accessDenied)(this.id, this.hub, status);
    if (status === 404) return notFound(this.id, this.hub, 'model, or no such file of');
    return unavailable(this.hub, status, retryAfterMs);
  }
}

/** `fetch` fails in the same way for a failed redirect and for a silent host. A request that follows no redirect shows which. */
async function isRedirect(url: string, signal: AbortSignal): Promise<boolean> {
  const answer = await fetch(url, { ...UNCACHED, signal, redirect: 'manual' }).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.type === 'opaqueredirect';
}

/** Bytes of the whole file; undefined if the answer has no length: a foreign server may hide `Content-Range`. */
function sizeOf({ status, headers }: Response): number | undefined {
  const length =
    status === 206 ? headers.get('content-range')?.replace(/^.*\//, '') : headers.get('content-length');
  return length && /^\d+$/.test(length) ? Number(length) : undefined;
}

/** The missing thing, by the hub's `x-error-code`. */
const MISSING: ReadonlyMap<string, string> = new Map([
  ['RepoNotFound', 'model'],
  ['RevisionNotFound', 'such revision of'],
  ['EntryNotFound', 'such file of'],
]);
