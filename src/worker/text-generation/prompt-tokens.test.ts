import { describe, expect, it, vi } from 'vitest';
import type { LoadedModel } from '../runtime/loaded-model.ts';
import { ScriptedBackend } from '../testing/scripted-backend.ts';
import { MAX_PROMPT_LENGTH } from '../../protocol/wire.ts';
import { createScriptedModel, runToEnd } from '../test-support.ts';
import { readPrompt, type Prompt, renderOpen } from './prompt-tokens.ts';
import { textOfContent, type ChatMessage } from '../../protocol/chat.ts';
import type { ChatTemplate } from '../models/tokenizer/chat-template.ts';

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

function templateOf(write: (message: ChatMessage) => string): ChatTemplate {
  return {
    sourceFor: () => '',
    render: (messages, { addGenerationPrompt = true } = {}) =>
      messages.map(write).join('') + (addGenerationPrompt ? 'begin' : ''),
  };
}

/** `{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}<|end|>\n{% endfor %}` */
const CHATML = templateOf(({ role, content }) => `<|${role}|>\n${textOfContent(content)}<|end|>\n`);
/** `{% for m in messages %}[{{ m.role }}] {{ m.content | trim }}[/]{% endfor %}` */
const TRIMMED = templateOf(({ role, content }) => `[${role}] ${textOfContent(content).trim()}[/]`);

// As transformers 5.24 renders these templates with continue_final_message=True and add_generation_prompt=False.
it.each([
  ['writes all', CHATML, 'Once upon', '<|user|>\nOnce upon<|end|>\n<|assistant|>\nOnce upon'],
  ['writes all', CHATML, ' a\n', '<|user|>\nOnce upon<|end|>\n<|assistant|>\n a\n'],
  ['writes all', CHATML, '', '<|user|>\nOnce upon<|end|>\n<|assistant|>\n'],
  ['trims', TRIMMED, 'Once upon', '[user] Once upon[/][assistant] Once upon'],
  ['trims', TRIMMED, 'Once upon ', '[user] Once upon[/][assistant] Once upon'],
  ['trims', TRIMMED, ' a\n', '[user] Once upon[/][assistant] a'],
])('the last message stays open where the template %s: %s %j', (_, template, content, expected) => {
  const messages: readonly ChatMessage[] = [
    { role: 'user', content: 'Once upon' },
    { role: 'assistant', content },
  ];
  expect(renderOpen(template, messages, {})).toBe(expected);
});

it('is refused where the template does not write the last message', () => {
  const template = templateOf(({ role, content }) => (role === 'user' ? textOfContent(content) : ''));
  const messages: readonly ChatMessage[] = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'a' },
  ];
  expect(() => renderOpen(template, messages, {})).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', param: 'continueFinalMessage' }),
  );
});
