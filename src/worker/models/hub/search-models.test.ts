import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { errorWith } from '../../testing/error-with.ts';
import { WASM } from '../checkpoint/test-support.ts';
import { searchModels } from './search-models.ts';

const SEARCH = { hub: 'https://hub', query: 'smol lm' };

const asked: string[] = [];

function hubWith(models: unknown): void {
  vi.stubGlobal('fetch', (url: string) => {
    asked.push(url);
    return Promise.resolve(Response.json(models));
  });
}

beforeEach(() => {
  asked.length = 0;
  for (const name of ['addEventListener', 'removeEventListener']) vi.stubGlobal(name, () => {});
});
afterEach(() => void vi.unstubAllGlobals());

it('asks the given hub for the words, with what tells whether a model runs', async () => {
  hubWith([]);
  expect(await searchModels(SEARCH, WASM)).toEqual([]);
  const [{ origin, pathname, searchParams } = new URL('about:blank')] = asked.map((url) => new URL(url));
  expect(origin + pathname).toBe('https://hub/api/models');
  expect(searchParams.get('search')).toBe('smol lm');
  expect(searchParams.getAll('expand[]')).toEqual(['downloads', 'gated', 'config', 'safetensors', 'gguf']);
});

it('says of each model whether it fits, or why it doesn’t run', async () => {
  const llama = { config: { model_type: 'llama' }, downloads: 7 };
  hubWith([
    // A count that is no whole number must not end the search.
    { id: 'a/small', ...llama, safetensors: { total: 135e6 + 0.25 } },
    { id: 'a/tight', ...llama, safetensors: { total: 4e9 } },
    { id: 'a/large', ...llama, safetensors: { total: 7e10 } },
    { id: 'a/gguf', downloads: 7, gguf: { total: 135e6 } },
    { id: 'a/mamba', config: { model_type: 'mamba' }, downloads: 7 },
    { id: 'a/gated', ...llama, gated: 'manual' },
    { id: 'a/bare' },
  ]);
  const all = { numDownloads: 7, isGguf: false, obstacle: '' };
  expect(await searchModels(SEARCH, WASM)).toEqual([
    { ...all, id: 'a/small', numParameters: 135e6, fit: 'fits' },
    { ...all, id: 'a/tight', numParameters: 4e9, fit: 'tight' },
    { ...all, id: 'a/large', numParameters: 7e10, fit: 'too-large' },
    { ...all, id: 'a/gguf', numParameters: 135e6, fit: 'fits', isGguf: true },
    {
      ...all,
      id: 'a/mamba',
      obstacle: 'Models of type mamba don’t run here: their layers keep a state that is not computed here',
    },
    { ...all, id: 'a/gated', obstacle: 'Gated: its authors give access' },
    { ...all, id: 'a/bare', numDownloads: 0 },
  ]);
});

it('refuses an answer that isn’t a hub’s', async () => {
  hubWith({ error: 'no' });
  await expect(searchModels(SEARCH, WASM)).rejects.toEqual(errorWith('HUB_BAD_ANSWER', 'list of models'));
});
