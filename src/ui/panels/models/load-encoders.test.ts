import { expect, it, vi } from 'vitest';

import type { LoadModelOptions, TabserveClient, TabserveStatus } from '../../../client/index.ts';
import { createStatus } from '../../testing/test-support.ts';
import { loadEncoders } from './load-encoders.ts';

const BACKEND = { name: 'wasm', precision: 'fp32', adapter: '', fallbackReason: '' } as const;
const SIZES = { numParameters: 1, maxTokens: 1, vocabSize: 1, dimensions: 1, prompts: [], backend: BACKEND };
const KNOBS = { maxBatchSize: 1, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1 };
const WELCOMED = { deployments: [{ name: 'adder', knobs: KNOBS }] };

/** A page of this address, whose client gets these statuses. Loads end when the test says so. */
function openPage(search: string) {
  const loads: (readonly [unknown, string | undefined])[] = [];
  const listeners = new Set<(status: TabserveStatus) => void>();
  const ends: (() => void)[] = [];
  const serve: Pick<TabserveClient, 'subscribe' | 'loadModel'> = {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it follows the status alone
    subscribe: ((_: 'status', listener: (status: TabserveStatus) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    }) as never,
    loadModel: (model, options?: LoadModelOptions) => {
      loads.push([model, options?.deployment]);
      return new Promise((_, reject) => ends.push(() => reject(new Error('no hub'))));
    },
  };
  loadEncoders(serve, search);
  const tell = (change: Partial<TabserveStatus>): void => {
    for (const listener of listeners) listener(createStatus(change));
  };
  return { loads, listeners, tell, endLoad: () => ends.shift()?.() };
}

it('encoders of the address are loaded one by one, once a worker is there', async () => {
  const { loads, listeners, tell, endLoad } = openPage('?reranker=a/cross&embedder=a/bert&model=a/b');
  tell({ deployments: [] });
  expect(loads).toEqual([]);
  tell(WELCOMED);
  expect(loads).toEqual([['a/bert', 'embedder']]);
  endLoad();
  await vi.waitFor(() => expect(loads).toHaveLength(2));
  expect(loads[1]).toEqual(['a/cross', 'reranker']);
  expect(listeners.size).toBe(0);
});

it('an encoder that another tab has loaded is not loaded again', () => {
  const { loads, tell } = openPage('?embedder=a/bert');
  tell({ ...WELCOMED, encoders: [{ id: 'a/bert', deployment: 'embedder', ...SIZES }] });
  expect(loads).toEqual([]);
});

it('an address without encoders loads none', () => {
  expect(openPage('?model=a/b').listeners.size).toBe(0);
});
