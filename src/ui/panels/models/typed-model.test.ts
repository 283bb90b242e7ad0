import { expect, it } from 'vitest';

import { isFullId, typedModel } from './typed-model.ts';

it.each([
  ['generated/chat', 'generated/chat'],
  [' generated/chat/ ', 'generated/chat'],
  ['https://huggingface.co/Qwen/Qwen3-0.6B', 'Qwen/Qwen3-0.6B'],
  ['https://huggingface.co/Qwen/Qwen3-0.6B/', 'Qwen/Qwen3-0.6B'],
  ['https://huggingface.co/Qwen/Qwen3-0.6B/tree/main', 'Qwen/Qwen3-0.6B'],
  ['https://huggingface.co/Qwen/Qwen3-0.6B?library=transformers#usage', 'Qwen/Qwen3-0.6B'],
  ['huggingface.co/Qwen/Qwen3-0.6B', 'Qwen/Qwen3-0.6B'],
  ['http://hf.co/Qwen/Qwen3-0.6B', 'Qwen/Qwen3-0.6B'],
  ['owner/name:Q4_K_M', 'owner/name:Q4_K_M'],
  ['./models/mine', './models/mine'],
  ['/models/mine/', '/models/mine/'],
  // Another revision is another model.
  ['https://huggingface.co/owner/name/tree/refs', 'https://huggingface.co/owner/name/tree/refs'],
  ['https://huggingface.co/owner/name/resolve/main', 'https://huggingface.co/owner/name/resolve/main'],
  ['https://example.com/owner/name', 'https://example.com/owner/name'],
])('the field takes %s as %s', (text, model) => {
  expect(typedModel(text)).toBe(model);
  expect(isFullId(typedModel(text))).toBe(true);
});

it.each(['smollm', 'small chat model', ''])('%s is a search', (text) => {
  expect(isFullId(typedModel(text))).toBe(false);
});
