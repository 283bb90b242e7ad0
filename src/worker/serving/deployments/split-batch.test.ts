import { describe, expect, it, vi } from 'vitest';
import type { BatchContext } from '../../../batching/batch/batch.ts';
import { InvalidOptionError } from '../../../batching/base/errors.ts';
import { WasmAbortError } from '../../runtime/faults/runtime-errors.ts';
import { runSplitting } from './split-batch.ts';

const outOfMemory = new RangeError('Array buffer allocation failed');

function createContext(size: number) {
  const controller = new AbortController();
  const itemSignals = Array.from({ length: size }, () => new AbortController().signal);
  const context: BatchContext = { reason: 'full', signal: controller.signal, itemSignals };
  return { context, controller, itemSignals };
}

/** Answers each item with its double; has memory for a limited number at a time. */
function createHandler({ room, poison }: { room: number; poison?: number }) {
  const batches: (readonly number[])[] = [];
  const handler = (items: readonly number[]): Promise<readonly unknown[]> => {
    batches.push(items);
    const isTooMuch = items.length > room || (poison !== undefined && items.includes(poison));
    return isTooMuch ? Promise.reject(outOfMemory) : Promise.resolve(items.map((item) => 2 * item));
  };
  return { handler, batches };
}

const refused = (item: number): InvalidOptionError => InvalidOptionError.of('input', 'even', item);

describe('runSplitting', () => {
  it('halves a batch that memory is too small for until it fits, in order', async () => {
    const { handler, batches } = createHandler({ room: 2 });
    expect(await runSplitting(handler, [1, 2, 3, 4, 5], createContext(5).context)).toEqual([2, 4, 6, 8, 10]);
    expect(batches).toEqual([[1, 2, 3, 4, 5], [1, 2, 3], [1, 2], [3], [4, 5]]);
  });

  it('fails only the item that does not fit alone', async () => {
    const { handler } = createHandler({ room: 4, poison: 3 });
    const results = await runSplitting(handler, [1, 2, 3, 4], createContext(4).context);
    expect(results).toEqual([2, 4, outOfMemory, 8]);
  });

  it('fails only the items that the handler refuses, and those with the error that they have alone', async () => {
    const handler = (items: readonly number[]): Promise<readonly unknown[]> => {
      const odd = items.find((item) => item % 2 === 1);
      return odd === undefined ? Promise.resolve(items) : Promise.reject(refused(odd));
    };
    const results = await runSplitting(handler, [2, 3, 4, 6, 7], createContext(5).context);
    expect(results).toEqual([2, refused(3), 4, 6, refused(7)]);
  });

  it('lets any other failure, and that of a single item, be the batch’s', async () => {
    const { context } = createContext(2);
    const broken = new Error('broken');
    await expect(runSplitting(() => Promise.reject(broken), [1, 2], context)).rejects.toBe(broken);
    const { handler } = createHandler({ room: 0 });
    await expect(runSplitting(handler, [1], context)).rejects.toBe(outOfMemory);
  });

  it('does not let a half answer for the other', async () => {
    let numRuns = 0;
    const handler = (items: readonly number[]): Promise<readonly unknown[]> => {
      numRuns += 1;
      if (numRuns === 1) return Promise.reject(outOfMemory);
      return Promise.resolve(numRuns === 2 ? [...items, 'one more'] : items.slice(1));
    };
    const results = await runSplitting(handler, [1, 2, 3, 4], createContext(4).context);
    expect(results.map(String)).toEqual([
      ...Array.from({ length: 2 }, () =>
        expect.stringContaining('The input list has length 2 but the returned list has length 3'),
      ),
      ...Array.from({ length: 2 }, () =>
        expect.stringContaining('The input list has length 2 but the returned list has length 1'),
      ),
    ]);
  });

  it('lets the end of the runtime be the batch’s, though memory was too small first, or is blamed for it', async () => {
    const aborted = WasmAbortError.because(new Error('Aborted(OOM)'));
    for (const errors of [[outOfMemory, aborted], [aborted]]) {
      const handler = vi.fn<() => Promise<never>>();
      for (const error of errors) handler.mockRejectedValueOnce(error);
      await expect(runSplitting(handler, [1, 2, 3, 4], createContext(4).context)).rejects.toBe(aborted);
      expect(handler).toHaveBeenCalledTimes(errors.length);
    }
  });

  it('gives each half the signals of its items', async () => {
    const { context, itemSignals } = createContext(3);
    const seen: (readonly unknown[])[] = [];
    const handler = (items: readonly number[], part: BatchContext): Promise<readonly unknown[]> => {
      seen.push(part.itemSignals);
      return items.length > 2 ? Promise.reject(outOfMemory) : Promise.resolve(items);
    };
    await runSplitting(handler, [1, 2, 3], context);
    expect(seen.slice(1)).toEqual([itemSignals.slice(0, 2), itemSignals.slice(2)]);
  });

  it('runs no half for which nobody waits any more', async () => {
    const { context, controller } = createContext(2);
    const { handler, batches } = createHandler({ room: 1 });
    const results = runSplitting(handler, [1, 2], context);
    controller.abort(new Error('all have left'));
    expect((await results).map(String)).toEqual(['Error: all have left', 'Error: all have left']);
    expect(batches).toEqual([[1, 2]]);
  });
});
