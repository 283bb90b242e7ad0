import { expect, it } from 'vitest';

import { textOfContent, type ChatMessage } from '../../protocol/chat.ts';
import type { ChatTemplate } from '../models/tokenizer/chat-template.ts';
import { renderOpen } from './render-open.ts';

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
