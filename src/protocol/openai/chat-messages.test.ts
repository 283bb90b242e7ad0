import { describe, expect, it } from 'vitest';

import { HttpError } from './http-error.ts';
import { readMessages } from './chat-messages.ts';

const user = { role: 'user', content: 'Hello' };

const called = (...ids: readonly string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
});
const resultOf = (id: string) => ({ role: 'tool', tool_call_id: id, content: '5' });

describe('the messages of a chat', () => {
  it('are taken as they are', () => {
    const messages = [
      { role: 'system', content: 'Be brief.' },
      user,
      { role: 'assistant', content: '' },
      { role: 'user', content: 'Go on.' },
    ];
    expect(readMessages(messages)).toEqual(messages);
  });

  it("have a system message by OpenAI's newer name as well", () => {
    expect(readMessages([{ role: 'developer', content: 'Be brief.' }, user])).toEqual([
      { role: 'system', content: 'Be brief.' },
      user,
    ]);
  });

  it('may have their text in parts', () => {
    const content = ['Hello', 'again'].map((text) => ({ type: 'text', text }));
    expect(readMessages([{ role: 'user', content }])).toEqual([{ role: 'user', content }]);
  });

  it('may have parts of answers, or with hints for caches', () => {
    const hints = { cache_control: { type: 'ephemeral' }, annotations: [{}], id: 'part_1' };
    const content = [{ type: 'text', text: 'Hello', ...hints }];
    expect(readMessages([{ role: 'user', content }])).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
    ]);
  });

  it('may be answers as a client has received them', () => {
    const answer = {
      role: 'assistant',
      content: 'Hi.',
      refusal: null,
      annotations: [],
      audio: null,
      function_call: null,
      tool_calls: [],
      reasoning_content: null,
    };
    expect(readMessages([user, answer])).toEqual([user, { role: 'assistant', content: 'Hi.' }]);
  });

  it.each(['system', 'user', 'assistant'])('may name their author, whose role is %s', (role) => {
    const named = { role, content: 'a', name: 'ann' };
    expect(readMessages([named, { ...user, name: null }])).toEqual([named, user]);
  });

  it('may have calls of tools, their answers, and what the model thought', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
    const messages = [
      user,
      { role: 'assistant', content: null, tool_calls: [call], reasoning_content: 'Hm.' },
      { role: 'tool', tool_call_id: 'call_1', name: 'add', content: '5' },
    ];
    expect(readMessages(messages)).toEqual([
      user,
      {
        role: 'assistant',
        content: null,
        reasoning: 'Hm.',
        toolCalls: [{ id: 'call_1', name: 'add', arguments: '{"a":1}' }],
      },
      { role: 'tool', content: '5', name: 'add', toolCallId: 'call_1' },
    ]);
  });
});

describe('a chat is refused by name where it has', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
  const text = { type: 'text', text: 'What is this?' };

  it.each<readonly [string, unknown, string, RegExp]>([
    ['no messages', undefined, 'messages', /`messages` to be a list of at least one message/],
    ['an empty list', [], 'messages', /at least one message/],
    ['a text for a list', 'Hello', 'messages', /at least one message/],
    ['a text for a message', ['Hello'], 'messages[0]', /an object with `role` and `content`, got `Hello`/],
    [
      'no role',
      [{ content: 'a' }],
      'messages[0].role',
      /system, developer, user, assistant or tool, got `nothing`/,
    ],
    ['an unknown role', [user, { role: 'bot', content: 'a' }], 'messages[1].role', /got `bot`/],
    [
      "a tool's answer to no call",
      [user, { role: 'tool', content: '5' }],
      'messages[1].tool_call_id',
      /the ID of a call in a message before, got `nothing`/,
    ],
    [
      'a call without its result',
      [user, called('1'), user],
      'messages[1].tool_calls[0].id',
      /is `1`, a call without a result: send a message of the role tool for it/,
    ],
    [
      'a call without its result at the end',
      [user, called('1', '2'), resultOf('1')],
      'messages[1].tool_calls[1].id',
      /is `2`, a call without a result/,
    ],
    ['two calls with one ID', [called('1', '1')], 'messages[0].tool_calls[1].id', /that no other call has/],
    [
      'two results of one call',
      [called('1'), resultOf('1'), resultOf('1')],
      'messages[2].tool_call_id',
      /the ID of a call before that has no other result, got `1`/,
    ],
    ["a function's answer", [{ role: 'function', name: 'f', content: '5' }], 'messages[0].role', /or tool/],
    [
      'a call without a name',
      [user, { role: 'assistant', content: null, tool_calls: [{ id: '1' }] }],
      'messages[1].tool_calls[0]',
      /`function` with `name` and `arguments`/,
    ],
    [
      'an object for a list of calls',
      [user, { role: 'assistant', content: 'a', tool_calls: { id: '1' } }],
      'messages[1].tool_calls',
      /a list of calls, got/,
    ],
    [
      'a call of another type',
      [user, { role: 'assistant', content: 'a', tool_calls: [{ id: '1', type: 'custom' }] }],
      'messages[1].tool_calls[0].type',
      /to be function, got `custom`/,
    ],
    [
      'a call with a field of another API',
      [user, { role: 'assistant', content: 'a', tool_calls: [{ id: '1', input: {} }] }],
      'messages[1].tool_calls[0].input',
      /a call has an id/,
    ],
    [
      'a number for thoughts',
      [user, { role: 'assistant', content: 'a', reasoning_content: 5 }],
      'messages[1].reasoning_content',
      /a text, got `5`/,
    ],
    [
      'a part with a field of another API',
      [{ role: 'user', content: [{ ...text, prefix: true }] }],
      'messages[0].content[0].prefix',
      /a part has a type and text/,
    ],
    ['a number for a name', [{ ...user, name: 7 }], 'messages[0].name', /to be a text, got `7`/],
    ['a field of another API', [{ ...user, prefix: true }], 'messages[0].prefix', /has a role and content/],
    [
      'an answer without content',
      [user, { role: 'assistant', content: null }],
      'messages[1].content',
      /a text, or a list of text parts, got `null`/,
    ],
    ['no content', [{ role: 'user' }], 'messages[0].content', /got `nothing`/],
    ['a number for content', [{ role: 'user', content: 7 }], 'messages[0].content', /got `7`/],
    ['no parts', [{ role: 'user', content: [] }], 'messages[0].content', /got `\[\]`/],
    [
      'a picture',
      [{ role: 'user', content: [text, image] }],
      'messages[0].content[1]',
      /is of type `image_url`: only text is supported here/,
    ],
    [
      'a sound',
      [{ role: 'user', content: [{ type: 'input_audio' }] }],
      'messages[0].content[0]',
      /`input_audio`/,
    ],
    ['a file', [{ role: 'user', content: [{ type: 'file' }] }], 'messages[0].content[0]', /`file`/],
    ['a part without a type', [{ role: 'user', content: [{}] }], 'messages[0].content[0]', /`nothing`/],
    ['a text for a part', [{ role: 'user', content: ['a'] }], 'messages[0].content[0]', /`type` and `text`/],
    [
      'a part without its text',
      [{ role: 'user', content: [{ type: 'text' }] }],
      'messages[0].content[0].text',
      /to be a text/,
    ],
  ])('%s', (_, messages, param, message) => {
    const read = (): unknown => readMessages(messages);
    expect(read).toThrow(HttpError);
    expect(read).toThrow(
      expect.objectContaining({ status: 400, param, message: expect.stringMatching(message) }),
    );
  });

  it('a long value, of which the message has the beginning alone', () => {
    const messages = [{ role: 'x'.repeat(5000), content: '' }];
    expect(() => readMessages(messages)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{1,250}$/) }),
    );
  });
});
