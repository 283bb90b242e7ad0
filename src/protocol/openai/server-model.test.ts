import { describe, expect, it } from 'vitest';
import { readServerModel } from './server-model.ts';

const url = 'http://gpu:8000';
const cards = (...data: readonly object[]) => JSON.stringify({ object: 'list', data });

describe('the model of a server', () => {
  it.each([
    ['a vLLM', { owned_by: 'vllm', max_model_len: 1024 }, true, true, 1024],
    ['Ray Serve LLM', { metadata: { max_request_context_length: 512 } }, true, true, 512],
    ['another Tabserve', { owned_by: 'tabserve', max_model_len: 256 }, true, false, 256],
    ['OpenAI', { owned_by: 'openai' }, false, false, 0],
  ])('of %s is read from its card', (_, card, hasExtensions, sendsIds, contextLength) => {
    const model = readServerModel(url, undefined, cards({ id: 'gpt2', object: 'model', ...card }));
    expect(model).toMatchObject({
      modelId: 'gpt2',
      hasExtensions,
      sendsIds,
      modelInfo: { id: 'gpt2', contextLength },
    });
  });

  it('is the first, or the one that was named', () => {
    const two = cards({ id: 'a' }, { id: 'b' });
    expect(readServerModel(url, undefined, two).modelId).toBe('a');
    expect(readServerModel(url, 'b', two).modelId).toBe('b');
  });

  it('has to be there', () => {
    expect(() => readServerModel(url, 'c', cards({ id: 'a' }))).toThrow(
      'does not serve the model c: it has a.',
    );
    expect(() => readServerModel(url, undefined, cards())).toThrow('it has none');
    expect(() => readServerModel(url, undefined, '<html>')).toThrow('not a list of models');
  });
});
