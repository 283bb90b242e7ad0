import { describe, expect, it } from 'vitest';
import { readUpstreamModel } from './upstream-model.ts';

const url = 'http://gpu:8000';
const cards = (...data: readonly object[]) => JSON.stringify({ object: 'list', data });

describe('the model of an upstream', () => {
  it.each([
    ['a vLLM', { owned_by: 'vllm', max_model_len: 1024 }, true, 1024],
    ['Ray Serve LLM', { metadata: { max_request_context_length: 512 } }, true, 512],
    ['OpenAI', { owned_by: 'openai' }, false, 0],
  ])('of %s is read from its card', (_, card, isVllm, contextLength) => {
    const model = readUpstreamModel({ url }, cards({ id: 'gpt2', object: 'model', ...card }));
    expect(model).toMatchObject({ modelId: 'gpt2', isVllm, modelInfo: { id: 'gpt2', contextLength } });
    expect(model.backendInfo).toMatchObject({ name: 'upstream', adapter: url });
  });

  it('is the first, or the one that was named', () => {
    const two = cards({ id: 'a' }, { id: 'b' });
    expect(readUpstreamModel({ url }, two).modelId).toBe('a');
    expect(readUpstreamModel({ url, model: 'b' }, two).modelId).toBe('b');
  });

  it('has to be there', () => {
    expect(() => readUpstreamModel({ url, model: 'c' }, cards({ id: 'a' }))).toThrow(
      'does not serve the model c: it has a.',
    );
    expect(() => readUpstreamModel({ url }, cards())).toThrow('it has none');
    expect(() => readUpstreamModel({ url }, '<html>')).toThrow('not a list of models');
  });
});
