import { afterEach, describe, expect, it, vi } from 'vitest';

import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { HubUnreachableError, ModelNotFoundError } from '../../../protocol/errors/hub.ts';
import { HubClient } from './hub-client.ts';
import { readHubSnapshot } from './hub-snapshot.ts';
import { errorWith } from '../../testing/error-with.ts';

const WHAT = 'the revision of a/b';
const FILE = { path: 'config.json', size: 20 };
const API = 'https://hub/api/models/a/b';

/** A client whose requests are answered by `answer`. */
function createClient(
  answer: (signal: AbortSignal | undefined, scope: EventTarget) => Promise<Response>,
  /** To a request that follows no redirect. */
  first: () => Promise<Response> = () => Promise.reject(new TypeError('Failed to fetch')),
) {
  const clock = new FakeClock();
  const abort = new AbortController();
  const tries: number[] = [];
  const retries: number[] = [];
  vi.stubGlobal('navigator', { onLine: true });
  /** Gets what the page's policy stops. */
  const scope = new EventTarget();
  for (const name of ['addEventListener', 'removeEventListener'] as const)
    vi.stubGlobal(name, scope[name].bind(scope));
  vi.stubGlobal('fetch', (_url: string, { signal, redirect }: RequestInit) => {
    if (redirect === 'manual') return first();
    tries.push(clock.now());
    return answer(signal ?? undefined, scope);
  });
  const client = new HubClient({
    hub: 'https://hub',
    id: 'a/b',
    clock,
    random: () => 0,
    signal: abort.signal,
    onRetry: (numFailures) => retries.push(numFailures),
  });
  /** Moves time on until nothing waits any more. */
  const run = async (): Promise<void> => {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (clock.pendingTimers === 0) return;
      clock.advance(500);
    }
  };
  /** The error with which work ends, as time moves on. */
  const failureOf = async (work: Promise<unknown>): Promise<unknown> => {
    const outcome = work.then(undefined, (error: unknown) => error);
    await run();
    return outcome;
  };
  return { client, clock, abort, tries, retries, failureOf };
}

/** As `fetch` waits for a server that accepts a connection and says nothing. */
function never(signal: AbortSignal | undefined): Promise<Response> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('aborted')));
  });
}

/** An answer whose body never ends. */
const stuck = (signal: AbortSignal | undefined): Promise<Response> => {
  const body = new ReadableStream({
    start: (controller) => signal?.addEventListener('abort', () => controller.error(new Error('aborted'))),
  });
  return Promise.resolve(new Response(body));
};

/** With the retries of a download. */
function readFile(client: HubClient, signal: AbortSignal): Promise<void> {
  return client.retry(async () => {
    const chunks = client.readRange('c', FILE, { begin: 0, end: FILE.size }, signal);
    for await (const chunk of chunks) expect(chunk.byteLength).toBeLessThan(FILE.size);
  }, signal);
}

const pageOf = (status = 200): Response =>
  new Response('<!doctype html>', { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } });

const sized = (size: number): Response =>
  new Response('x'.repeat(size), { headers: { 'Content-Length': String(size) } });

afterEach(() => void vi.unstubAllGlobals());

describe('a hub', () => {
  it('that never answers is given up after three tries of 15 s, each of which is told', async () => {
    const { client, tries, retries, clock, failureOf } = createClient(never);
    expect(await failureOf(client.fetch(API, WHAT))).toBeInstanceOf(HubUnreachableError);
    expect(tries).toEqual([0, 15_500, 31_500]);
    expect(clock.now()).toBe(46_500);
    expect(retries).toEqual([1, 2]);
  });

  it('that never ends its answer is given up as well', async () => {
    const { client, tries, failureOf } = createClient(stuck);
    expect(await failureOf(client.fetch(API, WHAT))).toBeInstanceOf(HubUnreachableError);
    expect(tries).toHaveLength(3);
  });

  it('that never sends a file is asked again', async () => {
    const { client, clock, abort, failureOf } = createClient(never);
    expect(
      await failureOf(client.readRange('c', FILE, { begin: 0, end: 10 }, abort.signal).next()),
    ).toBeInstanceOf(HubUnreachableError);
    expect(clock.now()).toBe(15_000);
  });

  it('that sends more than the range it was asked for is read to the last byte of the range, and cancelled there', async () => {
    const cancelled = vi.fn<() => void>();
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(4).fill(7)),
      cancel: cancelled,
    });
    const { client, abort } = createClient(() => Promise.resolve(new Response(endless, { status: 206 })));
    const received: number[] = [];
    for await (const chunk of client.readRange('c', FILE, { begin: 2, end: 12 }, abort.signal))
      received.push(...chunk);
    expect(received).toEqual(Array.from({ length: 10 }, () => 7));
    expect(cancelled).toHaveBeenCalledOnce();
  });

  it('that hides the answer from the page is named as such after three quick tries', async () => {
    const { client, tries, failureOf } = createClient(() => Promise.reject(new TypeError('Failed to fetch')));
    expect(await failureOf(client.fetch(API, WHAT))).toMatchObject({
      message: expect.stringContaining('hides its answer from this page (CORS)'),
    });
    expect(tries).toEqual([0, 500, 1500]);
  });

  it.each([
    [
      'refuses it with 401',
      () => new Response(null, { status: 401, headers: { 'x-error-code': 'RepoNotFound' } }),
    ],
    ['does not find it', () => new Response(null, { status: 404 })],
  ])('that %s has no such model, which is said at once', async (_, respond) => {
    const { client, tries, failureOf } = createClient(() => Promise.resolve(respond()));
    const failure = await failureOf(readHubSnapshot(client, 'main'));
    expect(failure).toBeInstanceOf(ModelNotFoundError);
    expect(failure).toMatchObject({ message: expect.stringContaining('a/b') });
    expect(tries).toHaveLength(1);
  });

  it.each<[string, () => Response, string]>([
    ['a web page', pageOf, 'answered with a web page instead of the list of files of a/b. Open https://hub'],
    [
      "a network's sign-in page",
      () => new Response('', { status: 511 }),
      'this network may want you to sign in',
    ],
    ['null', () => Response.json(null), 'it sent something else than the list of files of a/b'],
  ])('that answers with %s is no hub, which is said at once', async (_, respond, says) => {
    const { client, tries, failureOf } = createClient(() => Promise.resolve(respond()));
    expect(await failureOf(readHubSnapshot(client, 'main'))).toEqual(errorWith('HUB_BAD_ANSWER', says));
    expect(tries).toEqual([0]);
  });

  it.each<[string, () => Response, string]>([
    ['a web page', pageOf, 'answered with a web page instead of config.json'],
    ['a part of a web page', () => pageOf(206), 'answered with a web page instead of config.json'],
    ['a smaller file', () => sized(7), 'config.json has 7 bytes there, and 20 in its list of files'],
    [
      'a smaller file of unknown size',
      () => new Response('1234567'),
      'config.json has 7 bytes there, and 20',
    ],
    ['a larger file', () => sized(70), 'config.json has 70 bytes there, and 20'],
    [
      'a part of a smaller file',
      () => new Response('1234567', { status: 206, headers: { 'Content-Range': 'bytes 0-6/7' } }),
      'config.json has 7 bytes there, and 20',
    ],
    [
      'the end of the file before the range',
      () => new Response(null, { status: 416 }),
      'config.json is shorter than in its list of files',
    ],
  ])('that sends %s in place of a file is no hub, which is said at once', async (_, respond, says) => {
    const { client, abort, tries, failureOf } = createClient(() => Promise.resolve(respond()));
    expect(await failureOf(readFile(client, abort.signal))).toEqual(errorWith('HUB_BAD_ANSWER', says));
    expect(tries).toEqual([0]);
  });

  it.each<[string, (scope: EventTarget) => void, string, number[]]>([
    [
      "to a host that the page's policy forbids",
      (scope) => {
        const violation = { effectiveDirective: 'connect-src', blockedURI: 'https://hub/' };
        scope.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), violation));
      },
      "to a host that this page's policy (connect-src) forbids",
      [0],
    ],
    ['in a circle', () => {}, 'the redirect fails: it leads in a circle, or', [0, 500, 1500]],
  ])('that redirects %s is named as such, within seconds', async (_, stop, says, expectedTries) => {
    const { client, abort, tries, failureOf } = createClient(
      (_signal, scope) => {
        stop(scope);
        return Promise.reject(new TypeError('Failed to fetch'));
      },
      () => Promise.resolve(Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' })),
    );
    expect(await failureOf(readFile(client, abort.signal))).toEqual(errorWith('HUB_REDIRECT_FAILED', says));
    expect(tries).toEqual(expectedTries);
  });

  it('leaves no timer behind once it has answered, nor when the load is cancelled', async () => {
    const answered = createClient(() => Promise.resolve(new Response('{}')));
    await answered.client.fetch(API, WHAT);
    expect(answered.clock.pendingTimers).toBe(0);
    const cancelled = createClient(never);
    const answer = cancelled.client.fetch(API, WHAT);
    cancelled.abort.abort(new Error('cancelled'));
    await expect(answer).rejects.toThrow('cancelled');
    expect(cancelled.clock.pendingTimers).toBe(0);
  });
});
