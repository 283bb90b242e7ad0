import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../batching/base/clock.ts';
import { errorWith } from '../../testing/error-with.ts';
import { filesOf, TINY_CONFIG, tinyTensors } from '../../testing/tiny-checkpoint.ts';
import { safetensorsFile } from '../../testing/safetensors-builder.ts';
import { packInMemory } from '../checkpoint/convert-weights.ts';
import { openCheckpoint } from '../checkpoint/open-checkpoint.ts';
import { planModel } from '../checkpoint/model-plan.ts';
import { WASM } from '../checkpoint/test-support.ts';
import { writeRows } from '../checkpoint/weight-source.ts';
import { ModelStore } from '../store/model-store.ts';
import { MemoryFolder } from '../store/test-support.ts';
import type { ModelFolder } from '../store/model-folder.ts';
import { fetchHubModel, readPickedModel } from './fetch-model.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

const WEIGHTS = 'model.safetensors';
const SOURCE = { id: 'a/b', hub: 'https://hub', revision: 'main' };
/** Bytes of a chunk of an answer. */
const CHUNK = 10_000;

const CONFIG = { ...TINY_CONFIG, n_layer: 4 };
const contents = {
  'config.json': CONFIG,
  'tokenizer.json': { model: { type: 'BPE', vocab: {}, merges: [] }, decoder: { type: 'ByteLevel' } },
  [WEIGHTS]: safetensorsFile(tinyTensors(CONFIG, Math.sin)),
};
const files = new Map(
  Object.entries(contents).map(([name, content]) => [
    name,
    content instanceof Uint8Array ? content : new TextEncoder().encode(JSON.stringify(content)),
  ]),
);
const numBytes = files.get(WEIGHTS)?.length ?? 0;

/** What the store holds of the model after a load without any cut. */
const expected = (async () => {
  const checkpoint = await openCheckpoint(filesOf(contents));
  return (await packInMemory(checkpoint, planModel(checkpoint, 'fp32', WASM))).weights;
})();

afterEach(() => void vi.unstubAllGlobals());

/** A hub with the model and a device with storage. */
function createHub({ corruptAt = -1 } = {}) {
  let root = new MemoryFolder();
  let onChunk: ((numSent: number) => void | Promise<void>) | undefined;
  const sent: { begin: number; end: number }[] = [];
  const requests: string[] = [];
  for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => {});
  vi.stubGlobal('navigator', {
    onLine: true,
    storage: { getDirectory: () => Promise.resolve(root), estimate: () => Promise.resolve({}) },
  });
  vi.stubGlobal('fetch', (url: string, { headers, signal }: RequestInit) => {
    signal?.throwIfAborted();
    const range = new Headers(headers).get('range') ?? '';
    requests.push(`${url.slice(SOURCE.hub.length)} ${range}`.trim());
    if (url.includes('/api/')) return Promise.resolve(Response.json({ sha: 'c0ffee', siblings: siblings() }));
    const name = url.slice(url.lastIndexOf('/') + 1);
    const bytes = files.get(name)?.slice() ?? new Uint8Array();
    if (name === WEIGHTS && corruptAt >= 0) bytes[corruptAt] = (bytes[corruptAt] ?? 0) ^ 1;
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(range) ?? [];
    let position = Number(first);
    const end = Number(last) + 1;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        // Readers run before everything has come.
        await nextTask();
        if (signal?.aborted) return controller.error(signal.reason);
        if (!(position < end)) return controller.close();
        const next = Math.min(position + CHUNK, end);
        controller.enqueue(bytes.slice(position, next));
        if (name === WEIGHTS) sent.push({ begin: position, end: next });
        position = next;
        if (name === WEIGHTS) await onChunk?.(sent.reduce((sum, part) => sum + part.end - part.begin, 0));
      },
    });
    const answered = { 'content-range': `bytes ${first}-${last}/${bytes.length}` };
    return Promise.resolve(new Response(body, { status: 206, headers: answered }));
  });
  return {
    sent,
    requests,
    /** Calls `cut` once, when the hub has sent so many bytes of the weights. */
    at: (numSent: number, cut: () => void): void => {
      let isDone = false;
      onChunk = (sentSoFar) => {
        if (isDone || sentSoFar < numSent) return;
        isDone = true;
        cut();
      };
    },
    /** Sends nothing more once it has sent so many bytes of the weights, until the returned function is called. */
    holdAt: (numSent: number) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      onChunk = (sentSoFar) => (sentSoFar < numSent ? undefined : promise);
      return resolve;
    },
    crash: () => (root = root.clone()),
    /** Bytes of the packed file, as far as it is written. */
    written: async (): Promise<Uint8Array> => {
      const models = await (await root.getDirectoryHandle('tabserve')).getDirectoryHandle('models');
      const [folder] = await Array.fromAsync(models.values());
      if (!(folder instanceof MemoryFolder)) return new Uint8Array();
      return new Uint8Array(
        await (await (await folder.getFileHandle('weights.bin')).getFile()).arrayBuffer(),
      );
    },
  };
}

async function load(signal = new AbortController().signal, accept = () => {}): Promise<ModelFolder> {
  const store = await ModelStore.open('tabserve');
  const options = { store, dtype: 'fp32', device: WASM, clock: systemClock, signal } as const;
  return fetchHubModel(SOURCE, { ...options, report: () => {}, accept });
}

async function list() {
  return (await ModelStore.open('tabserve')).list();
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

function siblings(): readonly object[] {
  return Array.from(files, ([rfilename, bytes]) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const blobId = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
    const lfs = rfilename === WEIGHTS && { lfs: { sha256, size: bytes.length } };
    return { rfilename, size: bytes.length, blobId, ...lfs };
  });
}

function weightsOf(folder: ModelFolder): Promise<Uint8Array> {
  const { size } = folder.manifest.packed;
  return folder.withWeights(
    () => {},
    async (weights) => {
      const read = new Uint8Array(size);
      await weights.stream((rows) => writeRows(rows, (bytes, at) => read.set(bytes, at)));
      return read;
    },
  );
}

const lengthOf = (name: string): number => files.get(name)?.length ?? 0;

function refuse(): never {
  throw new Error('for the reranker');
}

describe('a model of the hub', () => {
  it('is stored as it would be in memory, each byte fetched once', async () => {
    const { sent } = createHub();
    expect(Buffer.compare(await weightsOf(await load()), await expected)).toBe(0);
    expect(sent.reduce((sum, { begin, end }) => sum + end - begin, 0)).toBe(numBytes);
  });

  it('takes one request for the list of files, and one for each file before its weights', async () => {
    const { requests } = createHub();
    await load();
    const resolve = '/a/b/resolve/c0ffee';
    expect(requests).toEqual([
      '/api/models/a/b/revision/main?blobs=true',
      `${resolve}/config.json bytes=0-${lengthOf('config.json') - 1}`,
      `${resolve}/${WEIGHTS} bytes=0-65535`,
      `${resolve}/tokenizer.json bytes=0-${lengthOf('tokenizer.json') - 1}`,
      `${resolve}/${WEIGHTS} bytes=65536-${numBytes - 1}`,
    ]);
  });

  it('that is not wanted, such as one for another deployment, is refused before its weights', async () => {
    const { requests } = createHub();
    await expect(load(undefined, refuse)).rejects.toThrow('for the reranker');
    expect(requests.filter((request) => request.includes(WEIGHTS))).toEqual([]);
    expect(await list()).toEqual([]);
  });

  it('is converted while it arrives: with half of it here, a third is written', async () => {
    const { holdAt, written } = createHub();
    const release = holdAt(numBytes / 2);
    const loading = load();
    const third = (await expected).subarray(0, numBytes / 3);
    const isThere = async (): Promise<boolean> =>
      Buffer.compare((await written()).subarray(0, third.length), third) === 0;
    // The load has ended by then, if it waits for nothing.
    for (let task = 0; task < 1000 && !(await isThere().catch(() => false)); task++) await nextTask();
    expect(await isThere()).toBe(true);
    release();
    expect(Buffer.compare(await weightsOf(await loading), await expected)).toBe(0);
  });

  it.each(['pause', 'crash'] as const)(
    'is the same after a %s at any moment, and does not serve before',
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.integer({ min: 1, max: numBytes }), { maxLength: 3 }), async (cuts) => {
          const { at, crash } = createHub();
          for (const cut of cuts.toSorted((a, b) => a - b)) {
            const abort = new AbortController();
            at(cut, () => {
              if (kind === 'crash') crash();
              abort.abort(new Error('cut'));
            });
            // A load that resumes may not come as far as to the cut.
            const isCut = await load(abort.signal).then(
              () => false,
              () => true,
            );
            expect((await list()).some(({ dtype }) => dtype)).toBe(!isCut);
          }
          expect(Buffer.compare(await weightsOf(await load()), await expected)).toBe(0);
        }),
        { numRuns: runsOf({ whole: 15, part: 6 }) },
      );
    },
  );

  it('is refused where any byte is another one, and nothing of it is kept', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 10_000, max: numBytes - 1 }), async (corruptAt) => {
        createHub({ corruptAt });
        await expect(load()).rejects.toEqual(errorWith('MODEL_FILE_CORRUPT', /SHA-256|not numbers/));
        expect(await list()).toEqual([]);
      }),
      { numRuns: runsOf({ whole: 15, part: 6 }) },
    );
  });
});

it.each(['notes.txt', 'model.safetensors'])('%s, picked alone, is refused by its name', async (name) => {
  await expect(readPickedModel([new File(['hello'], name)])).rejects.toMatchObject({
    code: 'MODEL_FILE_CORRUPT',
    message: expect.stringContaining(`${name} is no GGUF file. Pick one`),
  });
});
