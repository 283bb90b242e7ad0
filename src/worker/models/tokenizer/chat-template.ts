import { parseOrderedJson } from '../../../batching/base/ordered-json.ts';
import type { GenerationTool } from '../../../batching/options/tools.ts';
import { type ChatMessage, textOfContent, type TextPart } from '../../../protocol/chat.ts';
import { ChatTemplateError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { importPart } from '../../base/import-part.ts';
import type { Template } from './jinja/template.ts';
import {
  chatTemplateBroken,
  chatTemplateEndless,
  chatTemplateRefused,
} from '../../../protocol/errors/model-messages.ts';

/** How a model's chats are written. */
export interface ChatTemplate {
  /** The template itself: some models have one of its own for chats with tools. @throws ChatTemplateError */
  sourceFor(hasTools: boolean): string;
  /** Writes a chat as a text that has its special tokens already. @throws ChatTemplateError */
  render(messages: readonly ChatMessage[], options?: RenderOptions): string;
}

export interface RenderOptions {
  /** Variables of the template, such as `enable_thinking` (Qwen3) or `date_string` (Llama 3.2, which else writes today's date). */
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly GenerationTool[];
  /** Whether the beginning of the model's answer follows; true by default. */
  readonly addGenerationPrompt?: boolean;
}

type Config = Readonly<Record<string, unknown>>;

const SPECIAL_TOKENS = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask'].map((name) => `${name}_token`);

/**
 * Reads the chat templates of a `tokenizer_config.json`. One that no Jinja could read is an error of each chat.
 *
 * @throws UnsupportedModelError for a template that Jinja2 renders and Tabserve doesn't.
 */
export async function readChatTemplate(config: Config): Promise<ChatTemplate | undefined> {
  const sources = sourcesOf(config['chat_template']);
  if (!sources) return undefined;
  const library = await importPart(() => import('./jinja/template.ts'));
  const read = new Map([...sources].map(([name, source]) => [name, readTemplate(library, source)]));
  const specialTokens = specialTokensOf(config);
  const renderAsGiven: ChatTemplate['render'] = (
    messages,
    { variables = {}, tools = [], addGenerationPrompt = true } = {},
  ) =>
    read
      .get(nameFor(sources, tools.length > 0))?.()
      .render({ tools: null, documents: null, ...specialTokens }, variables, {
        ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
        // A request may give the template its variables, but no other messages.
        messages: messages.map((message) => forTemplate(message, messages)),
        add_generation_prompt: addGenerationPrompt,
      }) ?? '';
  return {
    sourceFor: (hasTools) => sources.get(nameFor(sources, hasTools)) ?? '',
    render: (messages, options) =>
      refusing(library, () =>
        renderAsGiven(
          withTakenParts(messages, (others) => renderAsGiven(others, options)),
          options,
        ),
      ),
  };
}

/** By name. Undefined for a base model. */
function sourcesOf(given: unknown): ReadonlyMap<string, string> | undefined {
  if (typeof given === 'string') return new Map([['default', given]]);
  if (!Array.isArray(given)) return undefined;
  const named = given.filter(isRecord).map(({ name, template }) => [String(name), String(template)] as const);
  return new Map(named);
}

/** As huggingface/transformers chooses. @throws ChatTemplateError */
function nameFor(sources: ReadonlyMap<string, string>, hasTools: boolean): string {
  if (hasTools && sources.has('tool_use')) return 'tool_use';
  if (sources.has('default')) return 'default';
  throw chatTemplateBroken(`none of its templates is the default: ${[...sources.keys()].join(', ')}`);
}

type Library = typeof import('./jinja/template.ts');

/** A template that cannot be read throws when it's asked for. @throws UnsupportedModelError */
function readTemplate({ Template: Read, UnsupportedFeature }: Library, source: string): () => Template {
  try {
    const template = new Read(source);
    return () => template;
  } catch (cause) {
    if (cause instanceof UnsupportedFeature)
      throw UnsupportedModelError.of(
        `Its chat template uses ${cause.message}, which Tabserve doesn't render`,
      );
    return () => {
      throw cause;
    };
  }
}

/** @throws ChatTemplateError for what a template throws. */
function refusing({ TemplateError, UnsupportedFeature }: Library, render: () => string): string {
  try {
    return render();
  } catch (cause) {
    if (cause instanceof ChatTemplateError) throw cause;
    const detail = cause instanceof Error ? cause.message : String(cause);
    if (cause instanceof RangeError) throw chatTemplateEndless(detail, cause);
    if (cause instanceof UnsupportedFeature)
      throw chatTemplateBroken(`it uses ${detail}, which Tabserve doesn't render`, cause);
    if (cause instanceof TemplateError && cause.isRaised) throw chatTemplateRefused(detail, cause);
    throw chatTemplateBroken(detail, cause);
  }
}

/**
 * Templates take OpenAI's names, and arguments as objects. Some ask whether a message has calls at all, or read the reasoning by
 * the name that gpt-oss gives it: huggingface/transformers offers both.
 */
function forTemplate(message: ChatMessage, messages: readonly ChatMessage[]): object {
  const { role, content, name: author, reasoning, toolCalls = [], toolCallId } = message;
  const calls = toolCalls.map(({ id, name, arguments: json }) => {
    return { id, type: 'function', function: { name, arguments: parseOrderedJson(json) } };
  });
  const answered = messages.flatMap((other) => other.toolCalls ?? []).findLast(({ id }) => id === toolCallId);
  const name = author ?? answered?.name;
  return {
    ...(reasoning !== undefined && { thinking: reasoning }),
    role,
    ...(content !== undefined && { content }),
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(answered && { tool_call_id: answered.id }),
    ...(name !== undefined && { name }),
  };
}

/** Files have a token as a text, or as an object with its content. */
function specialTokensOf(config: Config): Config {
  const tokens = SPECIAL_TOKENS.map((name) => {
    const token = config[name];
    return [name, isRecord(token) ? token['content'] : token] as const;
  });
  return Object.fromEntries(tokens.filter(([, token]) => token));
}

type Render = (messages: readonly ChatMessage[]) => string;
type Role = ChatMessage['role'];

const ASKED: ChatMessage = { role: 'user', content: 'x' };
/** Chats whose message of this role is taken by every template that takes the role at all. */
const AROUND: Readonly<Record<Role, (message: ChatMessage) => readonly ChatMessage[]>> = {
  system: (message) => [message, ASKED],
  user: (message) => [message],
  assistant: (message) => [ASKED, message, ASKED],
  tool: (message) => [
    ASKED,
    { role: 'assistant', content: '', toolCalls: [{ id: 'abcdefghi', name: 'x', arguments: '{}' }] },
    { ...message, toolCallId: 'abcdefghi' },
  ],
};

/**
 * Parts of a message reach the template where it reads them, as in transformers. Many templates only read texts, and would write the
 * list as Python prints it: they get the parts as lines, as in vLLM.
 */
function withTakenParts(messages: readonly ChatMessage[], render: Render): readonly ChatMessage[] {
  const roles = new Set(messages.flatMap(({ role, content }) => (Array.isArray(content) ? [role] : [])));
  const taken = new Set([...roles].filter((role) => takesParts(role, render)));
  return messages.map((message) =>
    Array.isArray(message.content) && !taken.has(message.role)
      ? { ...message, content: textOfContent(message.content) }
      : message,
  );
}

/** Words that no template has. */
const WORDS = ['TABSERVEFIRST', 'TABSERVELAST'];
const PARTS = WORDS.map((text): TextPart => ({ type: 'text', text }));
/** A word in Python's or JSON's spelling of its part. */
const QUOTED = /['"]TABSERVE/;

/** Some templates read the first part alone. */
function takesParts(role: Role, render: Render): boolean {
  try {
    const written = render(AROUND[role]({ role, content: PARTS }));
    return WORDS.every((word) => written.includes(word)) && !QUOTED.test(written);
  } catch {
    return false;
  }
}
