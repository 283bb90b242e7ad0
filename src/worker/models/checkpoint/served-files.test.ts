import { describe, expect, it, vi } from 'vitest';
import { servedFiles } from './served-files.ts';
import { errorWith } from '../../testing/error-with.ts';

const FOLDER = 'http://localhost/models/tiny/';
const addressOf = (name: string): string => FOLDER + name;

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

const WEIGHTS = 'model.safetensors';

describe('servedFiles', () => {
  it('opens a file whole, and knows which ones there are not', async () => {
    serveFiles({ 'config.json': '{"n_layer": 2}' });
    const files = servedFiles(addressOf, () => {});
    const file = await files.open('config.json');
    expect(file).toMatchObject({ name: 'config.json', size: 14 });
    expect(new TextDecoder().decode(await file?.read(1, 10))).toBe('"n_layer"');
    expect(await files.open('generation_config.json')).toBeUndefined();
  });

  it('says of a folder without config.json that a GGUF file is passed as a file', () => {
    const files = servedFiles(addressOf, () => {});
    expect(files.missing?.('config.json', 'HTTP status 404')?.message).toMatch(
      /tiny\/config\.json: HTTP status 404\..*A GGUF file .*new File\(/,
    );
    expect(files.missing?.(WEIGHTS, 'HTTP status 404')?.message).not.toMatch(/GGUF/);
  });

  it('reports the bytes of the weights alone', async () => {
    const parts = [Uint8Array.of(1, 2), Uint8Array.of(3)];
    const body = () => new Response(streamOf(parts), { headers: { 'content-length': '3' } });
    serveFiles({ 'config.json': '{}', [WEIGHTS]: body });
    const report = vi.fn<(loaded: number, total: number) => void>();
    const files = servedFiles(addressOf, report);
    await files.open('config.json');
    const file = await files.open(WEIGHTS);
    expect(await file?.read(0, 3)).toEqual(Uint8Array.of(1, 2, 3));
    expect(report.mock.calls).toEqual([
      [2, 3],
      [3, 3],
    ]);
  });

  it('gives the memory of weights back as they are read', async () => {
    serveFiles({ 'config.json': '{}', [WEIGHTS]: () => new Response(streamOf([Uint8Array.of(1, 2)])) });
    const files = servedFiles(addressOf, () => {});
    const [config, weights] = [await files.open('config.json'), await files.open(WEIGHTS)];
    await weights?.read(0, 2);
    await expect(weights?.read(0, 2)).rejects.toThrow('was read');
    await config?.read(0, 2);
    expect(await config?.read(0, 2)).toHaveLength(2);
  });

  it('reports a hundred times at most where the size is known', async () => {
    const parts = Array.from({ length: 1000 }, () => new Uint8Array(10));
    const body = () => new Response(streamOf(parts), { headers: { 'content-length': '10000' } });
    serveFiles({ [WEIGHTS]: body });
    const report = vi.fn<(loaded: number, total: number) => void>();
    await servedFiles(addressOf, report).open(WEIGHTS);
    expect(report).toHaveBeenCalledTimes(100);
    expect(report).toHaveBeenLastCalledWith(10_000, 10_000);
  });
});

it('offline, takes what the browser has in its cache', async () => {
  vi.stubGlobal('fetch', (_: string, { cache }: RequestInit = {}) =>
    cache === 'only-if-cached'
      ? Promise.resolve(new Response('{}'))
      : Promise.reject(new TypeError('Failed to fetch')),
  );
  const file = await servedFiles(addressOf, () => {}).open('config.json');
  expect(new TextDecoder().decode(await file?.read(0, 2))).toBe('{}');
});

describe('a page that comes in the place of a file', () => {
  const page = '\n<!DOCTYPE html><html></html>';
  const html = { headers: { 'content-type': 'text/html; charset=utf-8' } };

  it.each([
    ['its beginning', () => new Response(page)],
    ['its type', () => new Response('<div>the app</div>', html)],
  ])('is known by %s, counts as no file, and is named with its address', async (_, answer) => {
    serveFiles({ 'config.json': answer });
    const files = servedFiles(addressOf, () => {});
    expect(await files.open('config.json')).toBeUndefined();
    expect(files.missing?.('config.json', 'there is no such file')).toEqual(
      errorWith('MODEL_FILE_MISSING', /http:\/\/localhost\/models\/tiny\/config\.json.*web page/),
    );
  });

  it('is not a file of another kind that a server calls HTML', async () => {
    serveFiles({ [WEIGHTS]: () => new Response(Uint8Array.of(1, 2), html) });
    expect(await servedFiles(addressOf, () => {}).open(WEIGHTS)).toMatchObject({ size: 2 });
  });
});

it('a missing file is named with its address', async () => {
  serveFiles({});
  const files = servedFiles(addressOf, () => {});
  expect(await files.open('config.json')).toBeUndefined();
  expect(files.missing?.('config.json', 'there is no such file')).toEqual(
    errorWith('MODEL_FILE_MISSING', `${FOLDER}config.json: there is no such file`),
  );
});

it('a file that the bundler has written into the script is read without a request', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('refused by the policy')));
  const files = servedFiles(
    () => `data:application/json;base64,${btoa('{"a":1}')}`,
    () => {},
  );
  const file = await files.open('config.json');
  expect(new TextDecoder().decode(await file?.read(0, 7))).toBe('{"a":1}');
});

describe('rejects', () => {
  it.each([
    ['a server that is broken', () => new Response('', { status: 503 }), /503/],
    ['weights that are cut off on the way', () => new Response(cutStream()), /cut after 0 bytes/],
  ])('%s', async (_, answer, detail) => {
    serveFiles({ [WEIGHTS]: answer });
    await expect(servedFiles(addressOf, () => {}).open(WEIGHTS)).rejects.toEqual(
      errorWith('MODEL_FILE_MISSING', detail),
    );
  });

  it('a server that cannot be reached', async () => {
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')));
    await expect(servedFiles(addressOf, () => {}).open('config.json')).rejects.toMatchObject({
      code: 'MODEL_FILE_MISSING',
    });
  });
});

function cutStream(): ReadableStream {
  return new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) });
}
