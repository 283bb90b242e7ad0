import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  checkDtype,
  toEncoders,
  toFirstModels,
  toFirstSource,
  toModelSource as toSource,
  type ModelReference,
} from './model-source.ts';

/** As an async function calls it. */
const toModelSource = async (...given: Parameters<typeof toSource>) => toSource(...given);

beforeEach(() => vi.stubGlobal('document', { baseURI: 'http://localhost/app/', querySelectorAll: () => [] }));
afterEach(() => void vi.unstubAllGlobals());

/** A folder as `showDirectoryPicker()` gives it. */
function folderOf(name: string, ...entries: object[]) {
  return { kind: 'directory', name, getFileHandle: () => {}, values: () => entries };
}

/** As an input for files gives it. */
function ggufFile(name: string): File {
  return Object.defineProperty(new File(['GGUF'], name), 'webkitRelativePath', { value: '' });
}

describe('the first model', () => {
  it('may be none', async () => expect(await toFirstSource(null, undefined)).toEqual({ type: 'none' }));
  it('has no precision where there is none', async () => {
    const encoders = { embedder: undefined, reranker: undefined };
    await expect(toFirstModels({ model: null, dtype: 'q8', ...encoders }, undefined)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      param: 'dtype',
    });
    const { first } = await toFirstModels({ model: null, dtype: 'auto', ...encoders }, undefined);
    expect(first).toEqual({ type: 'none' });
  });
  it('is otherwise given as one to load', async () => {
    const hub = 'http://localhost:9000';
    expect(await toFirstSource('gpt2', hub)).toMatchObject({ type: 'hub', id: 'gpt2' });
    const file = ggufFile('mine.gguf');
    expect(await toFirstSource(file, hub)).toEqual({ type: 'files', name: 'mine', files: [file] });
  });
});

it('models beside it are given in the same way', async () => {
  const file = ggufFile('ranks.gguf');
  const encoders = await toEncoders({ embedder: 'a/bert', reranker: file }, undefined);
  expect(encoders).toMatchObject([
    { deployment: 'embedder', source: { type: 'hub', id: 'a/bert' } },
    { deployment: 'reranker', source: { type: 'files', name: 'ranks' } },
  ]);
  expect(await toEncoders({ embedder: undefined }, undefined)).toEqual([]);
});

it.each(['auto', 'q4'])('a model may have the dtype %s', (dtype) =>
  expect(checkDtype(dtype)).toBeUndefined(),
);
it('a dtype that there is not is refused by name', () =>
  expect(() => checkDtype('int3')).toThrow(/`?dtype`?.*auto, fp16.*int3/));

describe('a model to load', () => {
  it('is no GGUF file at an address: the error says how to pass the file', async () => {
    const model = '/models/mine.gguf?raw=1';
    await expect(toModelSource(model, {})).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      param: 'model',
      message: expect.stringMatching(/new File\(.*, got `\/models\/mine\.gguf\?raw=1`/),
    });
    await expect(toEncoders({ embedder: './mine.gguf' }, undefined)).rejects.toThrow(/the file itself/);
  });

  it('that the page’s server has on its disk comes from there, at its revision', async () => {
    const metas = [{ content: 'local/mine@abc' }];
    vi.stubGlobal('document', { baseURI: 'http://localhost/', querySelectorAll: () => metas });
    vi.stubGlobal('location', { origin: 'http://localhost:8000' });
    const hub = 'http://hub.example';
    const ofServer = { type: 'hub', id: 'local/mine', revision: 'abc', hub: 'http://localhost:8000' };
    expect(await toModelSource('local/mine', {}, hub)).toEqual(ofServer);
    expect(await toModelSource('local/other', {}, hub)).toMatchObject({ hub });
    const given = { revision: 'before', hub };
    expect(await toModelSource('local/mine', given)).toMatchObject(given);
  });

  it('is an id on huggingface.co, or on the hub that is named', async () => {
    expect(await toModelSource('openai-community/gpt2', {})).toEqual({
      type: 'hub',
      id: 'openai-community/gpt2',
      revision: 'main',
      hub: 'https://huggingface.co',
    });
    const options = { revision: 'v1.0', hub: 'http://localhost:9000/models' };
    expect(await toModelSource('gpt2', options)).toMatchObject({
      revision: 'v1.0',
      hub: 'http://localhost:9000',
    });
  });

  it('is the embedded one under its name', async () => {
    expect(await toModelSource('storyteller', {})).toEqual({ type: 'embedded' });
  });

  it.each([
    ['/models/x/', 'http://localhost/models/x/'],
    ['./models/x', 'http://localhost/app/models/x/'],
    ['../x', 'http://localhost/x/'],
    ['https://cdn.example/x/', 'https://cdn.example/x/'],
  ])('is the folder at the address %s', async (model, url) => {
    expect(await toModelSource(model, {})).toEqual({ type: 'address', url });
  });

  it('is the files of a folder', async () => {
    const file = new File(['{}'], 'config.json');
    Object.defineProperty(file, 'webkitRelativePath', { value: 'my-gpt2/config.json' });
    const source = await toModelSource([file], {});
    expect(source).toEqual({ type: 'files', name: 'my-gpt2', files: [file] });
  });

  it('is the files of a folder and of its pooling folder, under their paths', async () => {
    const picked = ['config.json', '1_Pooling/config.json'].map((path) => {
      const file = new File(['{}'], 'config.json', { lastModified: 7 });
      return Object.defineProperty(file, 'webkitRelativePath', { value: `my-bert/${path}` });
    });
    const [config] = picked;
    const fileHandle = { kind: 'file', name: 'config.json', getFile: () => Promise.resolve(config) };
    const handle = folderOf(
      'my-bert',
      fileHandle,
      folderOf('1_Pooling', fileHandle),
      folderOf('onnx', fileHandle),
    );
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts of a folder that are read
    for (const given of [picked, handle as unknown as FileSystemDirectoryHandle]) {
      const source = await toModelSource(given, {});
      const files = source.type === 'files' ? source.files : [];
      expect(files.map(({ name }) => name)).toEqual(['config.json', '1_Pooling/config.json']);
      expect(files.map(({ lastModified }) => lastModified)).toEqual([7, 7]);
    }
  });

  it.each([
    '',
    'a/b/c',
    'models/x/',
    'a/../b',
    'a b',
    'https://',
    'ftp://host/gpt2',
    'file:///x',
    'a'.repeat(101),
  ])('is not %j', async (id) => {
    await expect(toModelSource(id, {})).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  it.each([undefined, null, 5, {}, [5], Symbol('x')])(
    'is not %s either: the error says what it may be',
    async (model) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may call it
      await expect(toModelSource(model as string, {})).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        param: 'model',
        message: expect.stringMatching(/model ID, the address of a folder, or a File, a list/),
      });
    },
  );

  const others: readonly ModelReference[] = [
    'storyteller',
    '/models/x/',
    'https://cdn.example/x/',
    ggufFile('mine.gguf'),
    [ggufFile('one.gguf'), ggufFile('two.gguf')],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts of a folder that are read
    folderOf('my-bert') as unknown as FileSystemDirectoryHandle,
  ];
  const ofHub = { file: 'x', revision: 'v1', hub: 'https://hub.example' };

  it.each(
    others.flatMap((model) => Object.entries(ofHub).map(([param, value]) => [model, param, value] as const)),
  )('has no part of a hub where it is not of one: %s, %s', async (model, param, value) => {
    await expect(toModelSource(model, { [param]: value })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      param,
      message: expect.stringContaining('left out: this model is not of the hub'),
    });
  });

  it.each(others)('that is not of a hub is taken on a page that names a hub: %s', async (model) => {
    expect(await toModelSource(model, {}, 'https://hub.example')).not.toHaveProperty('hub');
  });

  it.each([{ hub: 'huggingface.co' }, { hub: 'ftp://hub' }, { revision: '' }])(
    'does not come from %j',
    async (options) => {
      await expect(toModelSource('gpt2', options)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    },
  );
});
