import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Clock } from '../../../batching/base/clock.ts';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { bytesIn, joinRanges, type ByteRange } from '../formats/byte-ranges.ts';
import { download } from './download.ts';
import { HubClient } from './hub-client.ts';
import { PartFile } from '../store/part-file.ts';
import { OpfsFile } from '../store/test-support.ts';
import { errorWith } from '../../testing/error-with.ts';

const SIZE = 3_000_000;
const content = Uint8Array.from({ length: SIZE }, (_, i) => (i * 31 + (i >> 8)) & 255);

/** Every pause is over at once. */
const hurried: Clock = {
  now: () => 0,
  setTimer(_, fire) {
    queueMicrotask(fire);
    return () => {};
  },
};

type Answer =
  | 'whole'
  | 'ignores ranges'
  | 'half'
  | { readonly cutAfter: number }
  | { readonly silentAfter: number }
  | { readonly status: number };

/** A hub that answers as listed, then well; and a part file for what it serves. */
function createDownload(
  answers: readonly Answer[] = [],
  files = [new OpfsFile(), new OpfsFile()],
  clock = hurried,
) {
  const script = [...answers];
  vi.stubGlobal('navigator', { onLine: true });
  const requested: ByteRange[] = [];
  vi.stubGlobal('fetch', (_url: string, { headers, signal }: RequestInit) => {
    signal?.throwIfAborted();
    const asked = signal ?? new AbortController().signal;
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(new Headers(headers).get('range') ?? '') ?? [];
    const range = { begin: Number(first), end: Number(last) + 1 };
    requested.push(range);
    return Promise.resolve(respond(script.shift() ?? 'whole', range, asked));
  });
  const abort = new AbortController();
  const { signal } = abort;
  const client = new HubClient({ hub: 'https://hub', id: 'a/b', clock, random: () => 0, signal });
  const [data = new OpfsFile(), journal = new OpfsFile()] = files;
  const part = new PartFile(data, journal, SIZE);
  const received = vi.fn<(numBytes: number) => void>();
  return {
    abort,
    requested,
    data,
    part,
    files,
    received,
    run: (needed: readonly ByteRange[] = [{ begin: 0, end: SIZE }]) =>
      download({ client, commit: 'c', path: 'f', part, needed, signal, onBytes: received }),
  };
}

function mostOf(
  answer: Exclude<Answer, 'ignores ranges' | { readonly status: number }>,
  asked: number,
): number {
  if (answer === 'whole') return Infinity;
  if (answer === 'half') return asked >> 1;
  return 'silentAfter' in answer ? answer.silentAfter : answer.cutAfter;
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

function respond(answer: Answer, { begin, end }: ByteRange, signal: AbortSignal): Response {
  if (answer === 'ignores ranges') {
    return new Response(content, { status: 200, headers: { 'content-length': String(SIZE) } });
  }
  if (typeof answer === 'object' && 'status' in answer) return new Response(null, answer);
  const isSilent = typeof answer === 'object' && 'silentAfter' in answer;
  const length = Math.min(mostOf(answer, end - begin), end - begin);
  const chunks = [content.slice(begin, begin + length)];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk?.length) controller.enqueue(chunk);
      else if (isSilent) signal.addEventListener('abort', () => controller.error(signal.reason));
      else if (length < end - begin) controller.error(new TypeError('network error'));
      else controller.close();
    },
  });
  return new Response(body, { status: 206 });
}

describe('download', () => {
  it('fetches every needed byte once, and none of the others', async () => {
    const needed = [
      { begin: 0, end: 1000 },
      { begin: 500_000, end: 2_000_001 },
    ];
    const { requested, data, run, received } = createDownload();
    await run(needed);
    expect(joinRanges(requested)).toEqual(needed);
    expect(bytesIn(requested)).toBe(bytesIn(needed));
    expect(received.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0)).toBe(bytesIn(needed));
    expect(data.bytes.slice(500_000, 2_000_001)).toEqual(content.slice(500_000, 2_000_001));
  });

  it('goes on where connections were cut, however often', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 65_536, max: 300_000 }), { maxLength: 12 }),
        async (cuts) => {
          const { data, run, received } = createDownload(cuts.map((cutAfter) => ({ cutAfter })));
          await run();
          expect(Buffer.compare(data.bytes, content)).toBe(0);
          // Not one byte came twice.
          expect(received.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0)).toBe(SIZE);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('asks for the rest where a body stops in the middle for 15 s, as after a cut', async () => {
    const clock = new FakeClock();
    const { data, run, requested, received } = createDownload([{ silentAfter: 1000 }], undefined, clock);
    const part = { begin: 0, end: 5000 };
    const ended = run([part]);
    await settle();
    expect(received.mock.calls).toEqual([[1000]]);
    clock.advance(14_999);
    await settle();
    expect(requested).toEqual([part]);
    clock.advance(1);
    await settle();
    clock.advance(500);
    await ended;
    expect(requested).toEqual([part, { begin: 1000, end: 5000 }]);
    expect(data.bytes.slice(0, 5000)).toEqual(content.slice(0, 5000));
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives up a body that stops at the same place each time', async () => {
    const clock = new FakeClock();
    const silent = Array.from({ length: 6 }, () => ({ silentAfter: 0 }));
    const { run, requested } = createDownload(silent, undefined, clock);
    const ended = run([{ begin: 0, end: 5000 }]);
    ended.catch(() => {});
    for (await settle(); clock.pendingTimers > 0; await settle()) clock.advance(500);
    await expect(ended).rejects.toEqual(errorWith('HUB_UNREACHABLE', 'stopped in the middle'));
    expect(requested).toHaveLength(6);
  });

  it('gives up a hub that sends half of the rest each time, and goes on there the next time', async () => {
    const halves = Array.from({ length: 100 }, () => 'half' as const);
    const failing = createDownload(halves);
    await expect(failing.run()).rejects.toMatchObject({ code: 'HUB_UNREACHABLE' });
    // Two segments: five tries of 64 KiB or more, then six of less.
    expect(failing.requested.length).toBeLessThanOrEqual(2 * 11);
    const had = SIZE - bytesIn(failing.part.missing([{ begin: 0, end: SIZE }]));
    expect(had).toBeGreaterThan(SIZE / 2);
    const next = createDownload([], failing.files);
    await next.run();
    expect(bytesIn(next.requested)).toBe(SIZE - had);
    expect(Buffer.compare(next.data.bytes, content)).toBe(0);
  });

  it('waits out a server that is busy or out of order', async () => {
    const { data, run } = createDownload([{ status: 429 }, { status: 503 }, { status: 500 }]);
    await run();
    expect(Buffer.compare(data.bytes, content)).toBe(0);
  });

  it('keeps what has come when the hub fails for good, and fetches only the rest the next time', async () => {
    const failing = createDownload([
      { cutAfter: 100_000 },
      'whole',
      ...Array.from({ length: 40 }, () => ({ status: 503 })),
    ]);
    await expect(failing.run()).rejects.toMatchObject({ code: 'HUB_UNAVAILABLE' });
    const had = SIZE - bytesIn(failing.part.missing([{ begin: 0, end: SIZE }]));
    expect(had).toBeGreaterThan(100_000);
    const next = createDownload([], failing.files);
    await next.run();
    expect(bytesIn(next.requested)).toBe(SIZE - had);
    expect(Buffer.compare(next.data.bytes, content)).toBe(0);
  });

  it.each([
    [401, 'MODEL_ACCESS_DENIED'],
    [403, 'MODEL_ACCESS_DENIED'],
    [404, 'MODEL_NOT_FOUND'],
  ])('gives up at once on HTTP status %d, with %s', async (status, code) => {
    const { requested, run } = createDownload(Array.from({ length: 4 }, () => ({ status })));
    await expect(run()).rejects.toMatchObject({ code });
    expect(requested.length).toBeLessThanOrEqual(4);
  });

  it('ends when it is aborted, with the reason, and keeps what has come', async () => {
    const { abort, part, run, received } = createDownload();
    received.mockImplementation(() => abort.abort(new Error('paused')));
    await expect(run()).rejects.toThrow('paused');
    expect(bytesIn(part.missing([{ begin: 0, end: SIZE }]))).toBeLessThan(SIZE);
  });

  it('takes the whole file from a server that ignores ranges', async () => {
    const { data, part, run } = createDownload(Array.from({ length: 9 }, () => 'ignores ranges' as const));
    await run([{ begin: 1000, end: SIZE }]);
    expect(Buffer.compare(data.bytes, content)).toBe(0);
    expect(part.missing([{ begin: 0, end: SIZE }])).toEqual([]);
  });
});
