import { describe, expect, it, vi } from 'vitest';

import { ScriptedBackend } from '../runtime/scripted-backend.ts';
import { createScriptedModel } from '../test-support.ts';
import { readPrompt } from './prompt-tokens.ts';

const LIMITS = { maxLength: 10, chatTemplateArguments: {} };

function createModel() {
  const model = createScriptedModel(new ScriptedBackend());
  // Its tokens are single letters. It says that they may be longer, so a length alone tells little.
  const tokenizer = { ...model.tokenizer, maxTokenLength: 20 };
  return { model: { ...model, tokenizer }, encode: vi.spyOn(tokenizer, 'encode') };
}

describe('a text that is too long', () => {
  it('is refused without tokens where its length tells', () => {
    const { model, encode } = createModel();
    expect(() => readPrompt('a'.repeat(201), model, LIMITS)).toThrow(/at least 11/);
    expect(encode).not.toHaveBeenCalled();
  });

  it('is refused after its first part', () => {
    const { model, encode } = createModel();
    expect(() => readPrompt('a'.repeat(199), model, LIMITS)).toThrow(
      expect.objectContaining({ code: 'PROMPT_TOO_LONG', message: expect.stringContaining('at least 60') }),
    );
    expect(encode).toHaveBeenCalledExactlyOnceWith('a'.repeat(80), false);
  });
});

it('takes a long text of few tokens', () => {
  const { model, encode } = createModel();
  encode.mockImplementation((text) => Array.from({ length: Math.ceil(text.length / 20) }, () => 0));
  expect(readPrompt('a'.repeat(200), model, LIMITS).tokenIds).toHaveLength(10);
});

it('writes the text of token ids as that of a whole text', () => {
  const { model } = createModel();
  const createTextStream = vi.spyOn(model.tokenizer, 'createTextStream');
  expect(readPrompt([0, 1], model, LIMITS)).toEqual({ text: 'ab', tokenIds: [0, 1] });
  expect(createTextStream).toHaveBeenCalledExactlyOnceWith(true);
});
