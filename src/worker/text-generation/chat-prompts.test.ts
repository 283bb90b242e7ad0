import { describe, expect, it, vi } from 'vitest';
import type { ChatMessage } from '../../protocol/chat.ts';
import { createClientId, createRequestId } from '../../protocol/ids.ts';
import { readMessages } from '../../protocol/read-messages.ts';
import { runToEnd, scriptedChatTemplate } from '../test-support.ts';
import { createGenerator, resultIn, textsIn } from './test-support.ts';

const user = (content: string): ChatMessage => ({ role: 'user', content });
const call = (json: string) => ({ id: json, name: 'f', arguments: json });
const CHAT = [{ role: 'system', content: 'kl' }, user('mn')];

const createChat = () => createGenerator(undefined, scriptedChatTemplate);

describe('a chat as a prompt', () => {
  it("goes through the model's template, and its text is the answer alone", async () => {
    const { model, submit, updates, idle } = createChat();
    const encode = vi.spyOn(model.tokenizer, 'encodeInPieces');
    submit(CHAT, { maxNewTokens: 3 });
    await idle;
    // The template has written the special tokens itself.
    expect(encode).toHaveBeenCalledExactlyOnceWith('SklUmnA', false);
    expect(textsIn(updates)).toEqual(['B', 'C', 'D']);
    expect(resultIn(updates)).toMatchObject({
      text: 'BCD',
      generatedText: 'BCD',
      usage: { numPromptTokens: 7, numCachedTokens: 0, numOutputTokens: 3 },
    });
  });

  it('without maxNewTokens runs until its end', async () => {
    const { submit, updates, idle } = createChat();
    submit(CHAT);
    await idle;
    expect(resultIn(updates)).toMatchObject({
      text: 'BCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
      finishReason: 'stop',
    });
  });

  it('without maxNewTokens runs until the context is full', async () => {
    const { submit, updates, idle } = createChat();
    submit([user('a'.repeat(288))]);
    await idle;
    expect(resultIn(updates)).toMatchObject({
      finishReason: 'length',
      usage: { numPromptTokens: 290, numOutputTokens: 10 },
    });
  });

  it('gives the template its variables', async () => {
    const { submit, updates, idle } = createChat();
    submit(CHAT, { maxNewTokens: 0, promptLogprobs: 0, chatTemplateArguments: { mood: 'xy' } });
    await idle;
    expect(resultIn(updates)).toMatchObject({ text: '', usage: { numPromptTokens: 9 } });
    expect(
      resultIn(updates)
        .promptLogprobs?.map(({ tokenId }) => tokenId)
        .slice(-3),
    ).toEqual([23, 24, 26]);
  });

  it('continues its last message, where it is asked to', async () => {
    const { model, submit, updates, idle } = createChat();
    const encode = vi.spyOn(model.tokenizer, 'encodeInPieces');
    submit([user('kl'), { role: 'assistant', content: 'mn' }], {
      maxNewTokens: 2,
      continueFinalMessage: true,
    });
    await idle;
    expect(encode.mock.lastCall?.[0]).toMatch(/mn$/);
    expect(resultIn(updates)).toMatchObject({ text: 'op' });
    expect(() => submit('kl', { continueFinalMessage: true })).toThrow(
      /false for a prompt that is not a chat/,
    );
  });

  it('takes calls of tools whose arguments are empty as calls without any', async () => {
    const calls = ['', ' ', 'null', ' null\n', '{}'].map(call);
    expect(readMessages([{ role: 'assistant', content: '', toolCalls: calls }])).toEqual([
      { role: 'assistant', content: '', toolCalls: calls.map(({ id }) => ({ ...call('{}'), id })) },
    ]);
    expect(() => readMessages([{ role: 'assistant', content: '', toolCalls: [call('nul')] }])).toThrow(
      'a JSON object',
    );
  });

  it('is written once, also where its answer has a shape', async () => {
    const template = { ...scriptedChatTemplate };
    const render = vi.spyOn(template, 'render');
    const { generator } = createGenerator(undefined, template);
    const options = { responseFormat: { type: 'choice', choices: ['b', 'c'] } };
    const ids = { requestId: createRequestId(), clientId: createClientId() };
    const submission = { ...ids, input: CHAT, options, elapsedMs: 0 };
    const shapes = await generator.prepare([submission]);
    expect(shapes?.get(ids.requestId)?.constraints).toHaveLength(1);
    runToEnd(generator.readAll([submission], shapes)).value();
    expect(render).toHaveBeenCalledTimes(1);
  });

  it('goes on after the tokens of a lost worker', async () => {
    const { submit, updates, idle } = createChat();
    submit(CHAT, { maxNewTokens: 4 }, { choices: [{ tokenIds: [27, 28] }], queueWaitMs: 5, ttftMs: 30 });
    await idle;
    expect(textsIn(updates)).toEqual(['D', 'E']);
    expect(resultIn(updates)).toMatchObject({ text: 'BCDE', usage: { numPromptTokens: 7 } });
  });

  it('takes over the K/V of the turn before it, generated tokens included, and says how many', async () => {
    const { submit, updates, whenEnded } = createChat();
    const first = [user('a'.repeat(40))];
    await whenEnded(submit(first, { maxNewTokens: 3 }));
    const { text } = resultIn(updates.splice(0));
    const second = [...first, { role: 'assistant', content: text }, user('xy')];
    await whenEnded(submit(second, { maxNewTokens: 3 }));
    // 42 of the prompt, and two of three generated ones: the last was never fed in.
    expect(resultIn(updates.splice(0)).usage).toEqual({
      numPromptTokens: 49,
      numCachedTokens: 44,
      numOutputTokens: 3,
    });
    // The prompt of three answers to one question counts once. Then a short chat has nothing in the cache.
    await whenEnded(submit(second, { maxNewTokens: 3, n: 3 }));
    const told = updates.splice(0);
    expect(resultIn(told).usage.numCachedTokens).toBe(48);
    expect(
      told.find(({ type }) => type === 'chunk'),
      'as the first chunk says',
    ).toMatchObject({
      numCachedTokens: 48,
    });
    await whenEnded(submit([user('bbb')], { maxNewTokens: 1 }));
    expect(resultIn(updates).usage.numCachedTokens).toBe(0);
  });

  it('counts no tokens of a lost worker as cached, and the prompt once, whichever choice goes on first', async () => {
    const { submit, updates, whenEnded } = createChat();
    const chat = [user('a'.repeat(40))];
    await whenEnded(submit(chat, { maxNewTokens: 9 }));
    updates.splice(0);
    const ended = { tokenIds: [27], finishReason: 'length' } as const;
    const resumption = { choices: [ended, { tokenIds: [27, 28, 29] }], queueWaitMs: 5, ttftMs: 30 };
    await whenEnded(submit(chat, { maxNewTokens: 9, n: 2 }, resumption));
    expect(resultIn(updates).usage).toMatchObject({ numPromptTokens: 42, numCachedTokens: 42 });
  });

  it.each([
    ['no messages', [], {}, 'EMPTY_PROMPT', /empty/],
    [
      'an entry that is no message',
      [...CHAT, 'hi'],
      {},
      'INVALID_OPTION',
      /`prompt\[2\]` to be a message.*`hi`/,
    ],
    ['a message without a role', [{ content: 'a' }], {}, 'INVALID_OPTION', /`prompt\[0\]\.role`.*undefined/],
    [
      'a role that is unknown',
      [user('a'), { role: 'function', content: '' }],
      {},
      'INVALID_OPTION',
      /`prompt\[1\]\.role` to be one of system, user, assistant, tool, got `function`/,
    ],
    [
      'a message without content',
      [user('a'), { role: 'assistant' }],
      {},
      'INVALID_OPTION',
      /`prompt\[1\]\.content` to be a text/,
    ],
    [
      'content that is no text',
      [{ role: 'user', content: ['a'] }],
      {},
      'INVALID_OPTION',
      /`prompt\[0\]\.content` to be a text/,
    ],
    [
      'a field that no message has',
      [{ ...user('a'), author: 'Ann' }],
      {},
      'INVALID_OPTION',
      /`prompt\[0\]\.author` to be left out.*`Ann`/,
    ],
    ['more tokens than the context', [user('a'.repeat(299))], {}, 'PROMPT_TOO_LONG', /301 tokens.*holds 300/],
    [
      'roles that its template refuses',
      [user('a'), user('b')],
      {},
      'CHAT_TEMPLATE_FAILED',
      /do not alternate/,
    ],
    ['an echo', CHAT, { echo: true }, 'INVALID_OPTION', /`echo` to be false for a chat/],
    [
      'variables that are no record',
      CHAT,
      { chatTemplateArguments: [1] },
      'INVALID_OPTION',
      /`chatTemplateArguments` to be a record/,
    ],
    [
      'variables beside a text',
      'ab',
      { chatTemplateArguments: { mood: 'x' } },
      'INVALID_OPTION',
      /`chatTemplateArguments` to be left out/,
    ],
  ])('is refused with %s', (_, prompt, options, code, message) => {
    const { submit } = createChat();
    expect(() => submit(prompt, options)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  it('is refused by a model without a template, which says so', () => {
    const { submit } = createGenerator();
    expect(() => submit(CHAT)).toThrow(
      expect.objectContaining({ code: 'NO_CHAT_TEMPLATE', message: expect.stringContaining('scripted') }),
    );
  });

  it('that cannot fit is refused before the template sees it', () => {
    const { submit } = createGenerator(undefined, {
      sourceFor: () => '',
      render: () => expect.fail('it was rendered'),
    });
    const long = [user('a'.repeat(10_000_000))];
    const many = Array.from({ length: 301 }, () => user(''));
    for (const chat of [long, many])
      expect(() => submit(chat)).toThrow(expect.objectContaining({ code: 'PROMPT_TOO_LONG' }));
  });
});

describe('tools are refused', () => {
  const tools = [{ name: 'weather' }];
  const answered = { role: 'tool', content: 'Rain', toolCallId: 'call_1' };
  const called = {
    role: 'assistant',
    content: '',
    toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{}' }],
  };

  it.each<readonly [string, unknown, object, object]>([
    ['for a template that takes none', CHAT, { tools }, { code: 'TOOLS_UNSUPPORTED' }],
    ['with their answers, too', [user('Rain?'), called, answered], {}, { code: 'TOOLS_UNSUPPORTED' }],
    [
      'where an answer has no call before it',
      [user('Rain?'), answered],
      {},
      { code: 'INVALID_OPTION', message: expect.stringContaining('`prompt[1].toolCallId`') },
    ],
    [
      'where a call is required beside a shape',
      CHAT,
      { tools, toolChoice: 'required', responseFormat: { type: 'json_object' } },
      { code: 'INVALID_OPTION', param: 'toolChoice' },
    ],
    [
      'where one is named that is none of them',
      CHAT,
      { tools, toolChoice: { name: 'sing' } },
      { param: 'toolChoice' },
    ],
    ['for a prompt that is not a chat', 'a', { tools }, { param: 'tools' }],
  ])('%s', (_, prompt, options, error) => {
    const { submit } = createChat();
    expect(() => submit(prompt, options)).toThrow(expect.objectContaining(error));
  });

  it('for a template that names tools, and reads them by another name', () => {
    const { submit } = createGenerator(undefined, {
      sourceFor: () => '{% if xml_tools %}<tools>{{ xml_tools }}</tools><tool_call>{% endif %}',
      render: () => 'A',
    });
    expect(() => submit(CHAT, { tools })).toThrow(expect.objectContaining({ code: 'TOOLS_UNSUPPORTED' }));
  });
});
