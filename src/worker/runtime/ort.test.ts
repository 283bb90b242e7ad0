import { beforeEach, describe, expect, it, vi } from 'vitest';
import type * as ImportPart from '../platform/import-part.ts';
import { isFault } from './fault-of.ts';

vi.mock('onnxruntime-web/wasm', () => ({ env: { wasm: {} } }));

/** As in a worker that has just started. */
beforeEach(() => {
  vi.resetModules();
  vi.doUnmock('../platform/import-part.ts');
});

describe('the build of onnxruntime-web that a worker loads', () => {
  it('chooses the number of its threads by itself', async () => {
    const { ortInUse } = await import('./ort.ts');
    expect((await ortInUse()).env.wasm).not.toHaveProperty('numThreads');
  });

  it('has one thread where threads have failed, whoever creates the first session', async () => {
    const { ortInUse, forbidThreads } = await import('./ort.ts');
    forbidThreads();
    expect((await ortInUse()).env.wasm.numThreads).toBe(1);
  });

  it('is a part of the page: one that cannot be fetched is no fault of what the model runs on', async () => {
    vi.doMock('../platform/import-part.ts', async (importOriginal) => {
      const { importPart } = await importOriginal<typeof ImportPart>();
      return { importPart: () => importPart(() => Promise.reject(new TypeError('Failed to fetch'))) };
    });
    const { ortInUse } = await import('./ort.ts');
    const cause: unknown = await ortInUse().catch((error: unknown) => error);
    expect(cause).toMatchObject({ code: 'PAGE_OUTDATED' });
    expect(isFault(cause)).toBe(false);
  });
});
