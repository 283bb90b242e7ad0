import { describe, expect, it, vi } from 'vitest';
import { fetchModelFiles } from './model-files.ts';

const FOLDER = 'http://localhost/models/tiny/';

/** A server that answers from `files`; a function is called for its answer. */
function serveFiles(files: Readonly<Record<string, BodyInit | (() => Response)>>): void {
  vi.stubGlobal('fetch', (url: string) => {
    const file = files[url.slice(FOLDER.length)];
    if (file === undefined) return Promise.resolve(new Response('nothing', { status: 404 }));
    return Promise.resolve(typeof file === 'function' ? file() : new Response(file));
  });
}

function streamOf(parts: readonly Uint8Array[]): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

const JSON_FILES = {
  'config.json': '{"n_layer": 2}',
  'generation_config.json': '{}',
  'tokenizer.json': '{}',
  'tokenizer_config.json': '{}',
};

describe('fetchModelFiles', () => {
  it('reads the folder and reports the bytes of the weights', async () => {
    const parts = [Uint8Array.of(1, 2), Uint8Array.of(3)];
    const body = () => new Response(streamOf(parts), { headers: { 'content-length': '3' } });
    serveFiles({ ...JSON_FILES, 'model.safetensors': body });
    const report = vi.fn<(loaded: number, total: number) => void>();
    const files = await fetchModelFiles(FOLDER, report);
    expect(files.config).toEqual({ n_layer: 2 });
    expect(files.weights).toEqual(Uint8Array.of(1, 2, 3));
    expect(report.mock.calls).toEqual([
      [2, 3],
      [3, 3],
    ]);
  });

  it('reports a hundred times at most where the size is known', async () => {
    const parts = Array.from({ length: 1000 }, () => new Uint8Array(10));
    const body = () => new Response(streamOf(parts), { headers: { 'content-length': '10000' } });
    serveFiles({ ...JSON_FILES, 'model.safetensors': body });
    const report = vi.fn<(loaded: number, total: number) => void>();
    await fetchModelFiles(FOLDER, report);
    expect(report).toHaveBeenCalledTimes(100);
    expect(report).toHaveBeenLastCalledWith(10_000, 10_000);
  });
});

describe('rejects', () => {
  it.each(['config.json', 'tokenizer.json', 'model.safetensors'])(
    'a folder without %s, by name',
    async (missing) => {
      serveFiles({
        ...JSON_FILES,
        'model.safetensors': 'x',
        [missing]: () => new Response('', { status: 404 }),
      });
      await expect(fetchModelFiles(FOLDER, () => {})).rejects.toMatchObject({
        code: 'MODEL_FILE_MISSING',
        message: expect.stringMatching(`${missing}.*404`),
      });
    },
  );

  it('a server that cannot be reached', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    await expect(fetchModelFiles(FOLDER, () => {})).rejects.toMatchObject({ code: 'MODEL_FILE_MISSING' });
  });

  it('JSON that does not parse', async () => {
    serveFiles({ ...JSON_FILES, 'config.json': '<!doctype html>', 'model.safetensors': 'x' });
    await expect(fetchModelFiles(FOLDER, () => {})).rejects.toMatchObject({
      code: 'MODEL_FILE_CORRUPT',
      message: expect.stringContaining('config.json'),
    });
  });

  it('weights that are cut off on the way', async () => {
    const cut = new ReadableStream({
      pull: (controller) => controller.error(new Error('reset')),
    });
    serveFiles({ ...JSON_FILES, 'model.safetensors': () => new Response(cut) });
    await expect(fetchModelFiles(FOLDER, () => {})).rejects.toMatchObject({
      code: 'MODEL_FILE_MISSING',
      message: expect.stringContaining('cut'),
    });
  });
});
