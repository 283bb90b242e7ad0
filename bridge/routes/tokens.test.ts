import { expect, it, vi } from 'vitest';

import { createModelInfo } from '../../src/worker/test-support.ts';
import type { BridgeOptions } from '../bridge.ts';
import { mountBridge } from '../testing/test-support.ts';

/** A bridge whose model has one token for each character, and the code of the character as its id. */
async function startTokenizer(options: Partial<BridgeOptions> = {}) {
  const { bridge, url } = await mountBridge(options);
  const { serve } = bridge;
  const model = createModelInfo({ id: 'storyteller', contextLength: 8, vocabSize: 8 });
  vi.spyOn(serve, 'status').mockReturnValue({ ...serve.status(), state: 'ready', model });
  const tokenize = vi.spyOn(serve, 'tokenize').mockImplementation((text) =>
    Promise.resolve({
      modelId: model.id,
      contextLength: 8,
      tokenIds: Array.from(text, (character) => character.codePointAt(0) ?? 0),
      spellings: Array.from(text),
    }),
  );
  vi.spyOn(serve, 'detokenize').mockImplementation((ids) =>
    Promise.resolve({ modelId: model.id, text: String.fromCodePoint(...ids) }),
  );
  const post = (path: string, body: unknown) =>
    fetch(url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  return { post, serve, tokenize };
}

it('POST /tokenize answers as vLLM does', async () => {
  const { post, tokenize } = await startTokenizer();
  const response = await post('/tokenize', { model: 'storyteller', prompt: 'ab' });
  expect(await response.json()).toEqual({ count: 2, max_model_len: 8, tokens: [97, 98], token_strs: null });
  expect(tokenize).toHaveBeenLastCalledWith('ab', { addSpecialTokens: true });
  const spelled = await post('/tokenize', {
    model: null,
    prompt: 'ab',
    add_special_tokens: false,
    return_token_strs: true,
  });
  expect(await spelled.json()).toMatchObject({ token_strs: ['a', 'b'] });
  expect(tokenize).toHaveBeenLastCalledWith('ab', { addSpecialTokens: false });
});

it('answers under another name where the operator allows any', async () => {
  const { post } = await startTokenizer({ allowsAnyModel: true });
  expect((await post('/tokenize', { model: 'gpt-4', prompt: 'ab' })).status).toBe(200);
});

it('POST /tokenize says how long a request may be', async () => {
  const { post, serve } = await startTokenizer();
  const { policy } = serve.status();
  vi.spyOn(serve, 'status').mockReturnValue({
    ...serve.status(),
    policy: { ...policy, maxContextLength: 5 },
  });
  expect(await (await post('/tokenize', { prompt: 'ab' })).json()).toMatchObject({ max_model_len: 5 });
});

it('POST /detokenize answers as vLLM does', async () => {
  const { post } = await startTokenizer();
  const response = await post('/detokenize', { model: 'storyteller', tokens: [97, 98] });
  expect(await response.json()).toEqual({ prompt: 'ab' });
});

it.each([
  ['/tokenize', {}, 400, 'Expected `prompt` to be given.'],
  ['/tokenize', { messages: [] }, 400, 'Unknown option `messages`'],
  [
    '/tokenize',
    { prompt: 'a'.repeat(131_073) },
    400,
    'Expected `prompt` to be a text of at most 131072 characters.',
  ],
  ['/tokenize', { prompt: 'a', model: 'gpt-4' }, 404, "Model `gpt-4` isn't loaded"],
  ['/detokenize', { tokens: [-1] }, 400, 'Expected `tokens[0]` to be a token id from 0 on.'],
  ['/detokenize', { tokens: 'ab' }, 400, 'Expected `tokens` to be a list of token ids.'],
  ['/detokenize', { tokens: [97], model: 'gpt-4' }, 404, "Model `gpt-4` isn't loaded"],
])('POST %s refuses what is wrong in words, case %#', async (path, body, status, message) => {
  const { post } = await startTokenizer();
  const response = await post(path, body);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
});
