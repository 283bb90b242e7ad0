import { describe, expect, it, vi } from 'vitest';
import { readChunks } from './read-chunks.ts';

/** As WebKit has them: without an iterator of their own. */
function bodyOf(source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>>) {
  return Object.assign(new ReadableStream(source), { [Symbol.asyncIterator]: undefined });
}

async function collect(body: ReadableStream<Uint8Array<ArrayBuffer>> | null): Promise<number[]> {
  const bytes: number[] = [];
  for await (const chunk of readChunks(body)) bytes.push(...chunk);
  return bytes;
}

describe('readChunks', () => {
  it('reads a stream that cannot be iterated, and no body at all', async () => {
    const body = bodyOf({
      start(controller) {
        controller.enqueue(Uint8Array.of(1, 2));
        controller.enqueue(Uint8Array.of(3));
        controller.close();
      },
    });
    expect(await collect(body)).toEqual([1, 2, 3]);
    expect(await collect(null)).toEqual([]);
  });

  it('throws what the stream fails with', async () => {
    const body = bodyOf({ pull: (controller) => controller.error(new Error('reset')) });
    await expect(collect(body)).rejects.toThrow('reset');
  });

  it('cancels what is not read to its end', async () => {
    const cancel = vi.fn<() => void>();
    const body = bodyOf({ pull: (controller) => controller.enqueue(Uint8Array.of(1)), cancel });
    for await (const _ of readChunks(body)) break;
    expect(cancel).toHaveBeenCalledOnce();
  });
});
