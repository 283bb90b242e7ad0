import { chmod, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { createFolder } from '../testing/test-support.ts';
import { findLocalModels } from './find-local-models.ts';
import { isModelPath, readLocalModel } from './read-local-model.ts';

const CHECKPOINT = { 'config.json': '{}', 'tokenizer.json': '{}', 'model.safetensors': 'weights' };

const read = (path: string) => readLocalModel('model', path, () => false);

it.each(['./a', '../a/b', '/a', '.', 'a.gguf', 'a/b.gguf', '.\\a', 'C:\\a\\b.gguf'])('%s is a path', (text) =>
  expect(isModelPath(text)).toBe(true),
);

it.each(['gpt2', 'owner/name', 'owner/name:Q4_K_M', 'owner/name:b.gguf'])('%s is an ID', (text) =>
  expect(isModelPath(text)).toBe(false),
);

it('a folder gives the files that a model may need, and those of its pooling', async () => {
  const folder = await createFolder({
    ...CHECKPOINT,
    'vocab.txt': 'a',
    'chat_template.jinja': '',
    '1_Pooling/config.json': '{}',
    'README.md': 'no',
    'onnx/config.json': '{}',
    '2_Normalize/config.json': '{}',
  });
  const { id, files } = await read(folder);
  expect(id).toMatch(/^local\/tabserve-bridge-\w+$/);
  expect([...files.keys()]).toEqual([
    '1_Pooling/config.json',
    'chat_template.jinja',
    'config.json',
    'model.safetensors',
    'tokenizer.json',
    'vocab.txt',
  ]);
  expect(files.get('model.safetensors')).toMatchObject({
    path: join(await realpath(folder), 'model.safetensors'),
    size: 7,
  });
});

it('a GGUF file is a model alone, and one of several parts brings the others', async () => {
  const folder = await createFolder({
    'My model (Q4).gguf': '1',
    'split-00001-of-00002.gguf': '1',
    'split-00002-of-00002.gguf': '2',
    'other-00001-of-00002.gguf': '3',
  });
  const single = await read(join(folder, 'My model (Q4).gguf'));
  expect([single.id, ...single.files.keys()]).toEqual(['local/My-model-Q4-', 'My model (Q4).gguf']);
  const split = await read(join(folder, 'split-00001-of-00002.gguf'));
  expect([split.id, ...split.files.keys()]).toEqual([
    'local/split',
    'split-00001-of-00002.gguf',
    'split-00002-of-00002.gguf',
  ]);
});

it.each([
  ['a folder without config.json', { 'model.safetensors': '' }, '', /neither a config\.json nor a \.gguf/],
  ['a folder without weights', { 'config.json': '{}' }, '', /no \.safetensors file\. Name the folder/],
  ['a folder of both kinds', { 'config.json': '{}', 'a.gguf': '' }, '', /Name the \.gguf file itself/],
  ['a file of another kind', { 'model.bin': '' }, 'model.bin', /no GGUF file/],
])('%s is refused with the reason', async (_, files, name, reason) => {
  const path = join(await createFolder(files), name);
  await expect(read(path)).rejects.toMatchObject({
    code: 'MODEL_FILES_MISSING',
    message: expect.stringMatching(reason),
  });
});

it('a path with nothing there is refused, with the option', async () => {
  await expect(readLocalModel('embedder', './nothing/here', () => false)).rejects.toMatchObject({
    code: 'MODEL_NOT_READABLE',
    message: expect.stringMatching(/`--embedder \.\/nothing\/here`: there is no such file or folder\./),
  });
});

it.skipIf(process.getuid?.() === 0)('a file that this user may not read is refused', async () => {
  const folder = await createFolder(CHECKPOINT);
  await chmod(join(folder, 'model.safetensors'), 0);
  await expect(read(folder)).rejects.toMatchObject({ code: 'MODEL_NOT_READABLE' });
});

it('options get IDs in place of paths, and models of one name have two', async () => {
  const root = await createFolder({ 'a/model.gguf': '1', 'b/model.gguf': '2' });
  const paths = {
    model: join(root, 'a/model.gguf'),
    embedder: 'owner/bert',
    reranker: join(root, 'b/model.gguf'),
  };
  const { options, localModels } = await findLocalModels({ ...paths, port: 1 });
  expect(options).toEqual({
    model: 'local/model',
    embedder: 'owner/bert',
    reranker: 'local/model-2',
    port: 1,
  });
  expect(localModels.map(({ id }) => id)).toEqual(['local/model', 'local/model-2']);
});
