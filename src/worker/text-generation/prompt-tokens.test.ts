import { describe, expect, it, vi } from 'vitest';

import type { LoadedModel } from '../runtime/loaded-model.ts';
import { ScriptedBackend } from '../testing/scripted-backend.ts';
import { MAX_PROMPT_LENGTH } from '../../protocol/wire.ts';
import { createScriptedModel, runToEnd } from '../test-support.ts';
import { readPrompt, type Prompt } from './prompt-tokens.ts';

const LIMITS = { maxLength: 10, chatTemplateArguments: {}, continueFinalMessage: false, tools: [] };

function read(prompt: unknown, model: LoadedModel, limits = LIMITS): Prompt {
  return runToEnd(readPrompt(prompt, model, limits)).value;
}

function createModel() {
  const model = createScriptedModel(new ScriptedBackend());
  // Its tokens are single letters. It claims that they may be longer, so a text's length gives no useful bound.
  const tokenizer = { ...model.tokenizer, maxTokenLength: 20 };
  return { model: { ...model, tokenizer }, encode: vi.spyOn(tokenizer, 'encodeInPieces') };
}

describe('a text that is too long', () => {
  it('is refused without tokens where its length tells', () => {
    const { model, encode } = createModel();
    expect(() => read('a'.repeat(201), model)).toThrow(/at least 11/);
    expect(encode).not.toHaveBeenCalled();
  });

  it('is refused after its first part', () => {
    const { model, encode } = createModel();
    expect(() => read('a'.repeat(199), model)).toThrow(
      expect.objectContaining({ code: 'PROMPT_TOO_LONG', message: expect.stringContaining('at least 60') }),
    );
    expect(encode).toHaveBeenCalledExactlyOnceWith('a'.repeat(80), false);
  });
});

it('refuses a text of more characters than any prompt has, whatever its tokens', () => {
  const { model, encode } = createModel();
  model.tokenizer.maxTokenLength = 2 * MAX_PROMPT_LENGTH;
  expect(() => read('a'.repeat(MAX_PROMPT_LENGTH + 1), model)).toThrow(
    expect.objectContaining({
      code: 'PROMPT_TOO_LONG',
      message: expect.stringContaining('1048577 characters'),
    }),
  );
  expect(encode).not.toHaveBeenCalled();
});

it('refuses half a character, which would become another one', () => {
  const { model, encode } = createModel();
  expect(() => read('ab\ud83d', model)).toThrow('Expected `prompt` to be a text, got `half a character`');
  expect(encode).not.toHaveBeenCalled();
});

it('takes a long text of few tokens', () => {
  const { model, encode } = createModel();
  // oxlint-disable-next-line require-yield -- it has one piece
  encode.mockImplementation(function* encodeAtOnce(text) {
    return Array.from({ length: Math.ceil(text.length / 20) }, () => 0);
  });
  expect(read('a'.repeat(200), model).tokenIds).toHaveLength(10);
});

it('writes the text of token ids as that of a whole text', () => {
  const { model } = createModel();
  const createTextStream = vi.spyOn(model.tokenizer, 'createTextStream');
  expect(read([0, 1], model)).toEqual({ text: 'ab', tokenIds: [0, 1] });
  expect(createTextStream).toHaveBeenCalledExactlyOnceWith(true);
});
