import { expect, it, vi } from 'vitest';

import { createModelOpener } from './ai-sdk/model-opener.ts';
import { connect, type ConnectOptions } from './client.ts';
import { ModelHost } from './prompt-api/model-host.ts';

const worker = (): Worker => {
  throw new Error('No tab leads here.');
};

it('connect refuses a server, and says where to call it', async () => {
  await expect(connect({ worker })).rejects.toMatchObject({
    code: 'NO_BROWSER',
    message: expect.stringContaining('in the browser only'),
  });
});

it.each(['a/b', '', null, 5, Symbol('x')])(
  'connect refuses the name %o, which locks and folders cannot have',
  async (name) => {
    vi.stubGlobal('document', { baseURI: 'http://localhost/', querySelector: () => null });
    vi.stubGlobal('Worker', EventTarget);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may call it
    const refused = connect({ worker, name: name as string });
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION', param: 'name' });
  },
);

it('connect refuses a path that may be an ID of the hub, and says how to write it', async () => {
  vi.stubGlobal('document', { baseURI: 'http://localhost/', querySelector: () => null });
  vi.stubGlobal('Worker', EventTarget);
  await expect(connect({ worker, model: 'models/chat/' })).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('begins with `/`, `./` or `https://`'),
  });
});

it('connect refuses a model that is none', async () => {
  vi.stubGlobal('document', { baseURI: 'http://localhost/', querySelector: () => null });
  vi.stubGlobal('Worker', EventTarget);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may call it
  await expect(connect({ worker, model: 5 as unknown as string })).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('Expected `model` to be a Hugging Face model ID'),
  });
});

it.each(['modle', 'load', 'apiKey'])(
  'connect without a server refuses the option %s, which it has not',
  async (name) => {
    const options = { worker, [name]: 'a' };
    await expect(connect(options)).rejects.toMatchObject({ code: 'UNKNOWN_OPTION', param: name });
  },
);

it.each([
  ['no options', undefined, 'worker'],
  ['null', null, 'worker'],
  ['options without a worker', {}, 'worker'],
  ['a worker that nothing makes', { worker: {} }, 'worker'],
  ['a text', 'https://gpu:8000', 'options'],
])('connect refuses %s by name', async (_, options, param) => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as JavaScript may call it
  await expect(connect(options as unknown as ConnectOptions)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    param,
  });
});

it.each([
  ['backend', 'gpu'],
  ['backend', null],
  ['canLead', 'no'],
  ['canLead', null],
  ['hub', 'huggingface.co'],
])('connect refuses the option `%s` if it is %o', async (name, value) => {
  vi.stubGlobal('document', { baseURI: 'http://localhost/', querySelector: () => null });
  vi.stubGlobal('Worker', EventTarget);
  const refused = connect({ worker, model: null, [name]: value });
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION', param: name });
});

it('the AI SDK and the Prompt API keep their own options from it', async () => {
  const openModel = createModelOpener({ worker, load: { dtype: 'q8' } });
  await expect(openModel('owner/name', 'text-generator', undefined)).rejects.toMatchObject({
    code: 'NO_BROWSER',
  });
  const own = { embeddingModel: 'owner/name', load: {}, generation: {}, legacy: true, force: true };
  const host = new ModelHost({ worker, model: 'owner/name', ...own }, 'LanguageModel');
  await expect(host.connected()).rejects.toMatchObject({ code: 'NO_BROWSER' });
});
