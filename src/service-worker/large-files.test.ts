import { describe, expect, test } from 'vitest';

import { WASM_FILES } from '../worker/runtime/ort/ort-builds.ts';
import { isKeepMessage } from './keep-message.ts';
import { LargeFiles, splitFiles } from './large-files.ts';

const FOLDER = 'https://host.example/some/path/';
const RUNTIME = Object.values(WASM_FILES).map((file) => file.replace('.wasm', '-abcd_123.wasm'));
const MODEL = 'models/storyteller/model.safetensors';
const ENTRIES = [
  { url: 'index.html', revision: 'a' },
  { url: 'assets/page-abcd_123.js', revision: null },
  { url: MODEL, revision: 'b' },
  ...RUNTIME.map((file) => ({ url: `assets/${file}`, revision: null })),
];

describe('the files of a version', () => {
  const { small, large } = splitFiles(ENTRIES);
  const files = new LargeFiles(large, FOLDER);

  test('are stored at once but for models and the runtime', () => {
    expect(small.map(({ url }) => url)).toEqual(['index.html', 'assets/page-abcd_123.js']);
    expect(large).toHaveLength(3);
  });

  test('without a large one are split too', () => {
    expect(splitFiles([])).toEqual({ small: [], large: [] });
  });

  test('have a key for each revision, wherever the page lies', () => {
    expect(files.keyOf(`${FOLDER}${MODEL}`)).toBe(`${FOLDER}${MODEL}?revision=b`);
    expect(files.keyOf(`${FOLDER}assets/${RUNTIME[0]}`)).toBe(`${FOLDER}assets/${RUNTIME[0]}`);
    expect(files.keyOf(`https://host.example/${MODEL}`)).toBeUndefined();
    expect(files.hasKey(`${FOLDER}${MODEL}?revision=b`)).toBe(true);
    expect(files.hasKey(`${FOLDER}${MODEL}?revision=a`)).toBe(false);
  });

  test('that a backend needs are the models, and on a GPU one build of the runtime', () => {
    expect(files.neededFor('wasm')).toEqual([`${FOLDER}${MODEL}`]);
    const webgpu = files.neededFor('webgpu');
    expect(webgpu).toHaveLength(2);
    expect(webgpu.at(-1)).toMatch(/threaded\.jspi-/);
  });
});

describe('isKeepMessage', () => {
  test.each([
    undefined,
    null,
    'KEEP',
    {},
    { type: 'KEEP' },
    { type: 'KEEP', backend: 'server' },
    { type: 'SKIP_WAITING' },
  ])('refuses %j', (data) => {
    expect(isKeepMessage(data)).toBe(false);
  });

  test('takes either backend', () => {
    expect(isKeepMessage({ type: 'KEEP', backend: 'webgpu' })).toBe(true);
    expect(isKeepMessage({ type: 'KEEP', backend: 'wasm' })).toBe(true);
  });
});
