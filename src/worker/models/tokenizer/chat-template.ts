import type { PreTrainedTokenizer } from '@huggingface/transformers';

import type { GenerationTool } from '../../../batching/generation/tools.ts';
import { importPart } from '../../import-part.ts';
import type { ChatMessage } from '../../../protocol/chat.ts';
import { ChatTemplateError } from '../../../protocol/errors/model.ts';
import type { BoundedTemplate } from './bounded-template.ts';
import { formatDate } from './format-date.ts';

/** How a model's chats are written. */
export interface ChatTemplate {
  /** The template itself. @throws ChatTemplateError */
  readonly source: string;
  /** Writes a chat as a text that has its special tokens already. @throws ChatTemplateError */
  render(messages: readonly ChatMessage[], options?: RenderOptions): string;
}

export interface RenderOptions {
  /** Of the template, such as `enable_thinking` (Qwen3) or `date_string` (Llama 3.2, which else writes today's date). */
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly tools?: readonly GenerationTool[];
  /** Whether the beginning of the model's answer follows; true by default. */
  readonly addGenerationPrompt?: boolean;
}

const SPECIAL_TOKENS = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask'].map((name) => `${name}_token`);

/** The library renders without a bound, and writes months in the browser's language: models know those in English. */
export async function readChatTemplate(tokenizer: PreTrainedTokenizer): Promise<ChatTemplate | undefined> {
  if (tokenizer.chat_template == null) return undefined;
  const library = await importPart(() => import('./bounded-template.ts'));
  let template: BoundedTemplate | undefined;
  return {
    get source() {
      return refusing(() => tokenizer.get_chat_template());
    },
    render(messages, { variables, tools = [], addGenerationPrompt = true } = {}) {
      return refusing(() => {
        template ??= new library.BoundedTemplate(tokenizer.get_chat_template());
        return template.render({
          tools: null,
          documents: null,
          strftime_now: (format: string) => formatDate(new Date(), format),
          ...specialTokensOf(tokenizer.config),
          ...variables,
          ...(tools.length > 0 && { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
          // A request may give the template its variables, but no other messages.
          messages: messages.map((message) => forTemplate(message, messages)),
          add_generation_prompt: addGenerationPrompt,
        });
      });
    },
  };
}

/** @throws ChatTemplateError for what the template, or the library, throws. */
function refusing<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw cause instanceof RangeError
      ? ChatTemplateError.endless(detail, cause)
      : ChatTemplateError.of(detail, cause);
  }
}

/** Templates take OpenAI's names, and arguments as objects. Some ask whether a message has calls at all. */
function forTemplate(message: ChatMessage, messages: readonly ChatMessage[]): object {
  const { role, content, reasoning, toolCalls = [], toolCallId } = message;
  const calls = toolCalls.map(({ id, name, arguments: json }) => {
    return { id, type: 'function', function: { name, arguments: JSON.parse(json) } };
  });
  const answered = messages.flatMap((other) => other.toolCalls ?? []).findLast(({ id }) => id === toolCallId);
  return {
    role,
    content,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(answered && { tool_call_id: answered.id, name: answered.name }),
  };
}

function specialTokensOf(config: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const tokens = Object.entries(config).filter(([name, token]) => SPECIAL_TOKENS.includes(name) && token);
  return Object.fromEntries(tokens);
}
