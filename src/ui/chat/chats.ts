import type { ChatMessage, RequestId } from '../../client/index.ts';
import type { RequestView } from '../state/request-view.ts';

/** How an answer ended, and what was measured. Unlike the request's row, it is kept with the chat. */
export type AnswerEnd = Pick<
  RequestView,
  | 'status'
  | 'error'
  | 'finishReason'
  | 'isStopped'
  | 'seed'
  | 'numOutputTokens'
  | 'numPromptTokens'
  | 'numCachedTokens'
  | 'ttftMs'
  | 'tokensPerSecond'
  | 'choiceProbabilities'
> & {
  /** What the model thought first. */
  readonly thought?: string;
};

/** A message of the user and the model's answer. */
export interface Exchange {
  readonly id: string;
  readonly question: string;
  /** Undefined in an exchange of an earlier visit. */
  readonly requestId?: RequestId;
  /** Empty until the end: the request's row has it while it grows. */
  readonly answer: string;
  /** Undefined while the request waits or runs. */
  readonly end?: AnswerEnd;
  /** The shape of the answer, as it was typed. */
  readonly shape?: string | undefined;
}

export interface Chat {
  readonly id: string;
  /** From 1, in the order of creation. */
  readonly ordinal: number;
  /** Undefined where the default applies. */
  readonly systemPrompt?: string | undefined;
  readonly exchanges: readonly Exchange[];
}

/** A new visitor's chats: three that answer the same question differently. */
export const STARTER_PROMPTS = [
  undefined,
  'Answer in one short sentence.',
  'Answer like an old sailor who tells a story.',
] as const;

export const DEFAULT_SYSTEM_PROMPT = 'You are a helpful assistant.';

export function withNewChat(chats: readonly Chat[], id: string, systemPrompt?: string): readonly Chat[] {
  const ordinal = Math.max(0, ...chats.map((chat) => chat.ordinal)) + 1;
  return [...chats, { id, ordinal, systemPrompt, exchanges: [] }];
}

export function withChat(chats: readonly Chat[], id: string, change: (chat: Chat) => Chat): readonly Chat[] {
  return chats.map((chat) => (chat.id === id ? change(chat) : chat));
}

/** Asks at the end, or in place of an exchange, which is then removed with all after it. */
export function withExchange(chat: Chat, exchange: Exchange, replacedId?: string): Chat {
  return { ...chat, exchanges: [...exchangesBefore(chat, replacedId), exchange] };
}

export function withEnd(chat: Chat, exchangeId: string, answer: string, end: AnswerEnd): Chat {
  return {
    ...chat,
    exchanges: chat.exchanges.map((exchange) =>
      exchange.id === exchangeId ? { ...exchange, answer, end } : exchange,
    ),
  };
}

/** The prompt of a question at the end of a chat, or in place of an exchange. */
export function messagesFor(
  chat: Chat,
  question: string,
  { defaultSystemPrompt, replacedId }: { defaultSystemPrompt: string; replacedId?: string | undefined },
): readonly ChatMessage[] {
  const system = (chat.systemPrompt ?? defaultSystemPrompt).trim();
  return [
    ...(system === '' ? [] : [{ role: 'system', content: system } as const]),
    ...exchangesBefore(chat, replacedId).flatMap(messagesOf),
    { role: 'user', content: question },
  ];
}

/** Templates want question and answer to alternate, so a question without an answer is left out. */
function messagesOf({ question, answer }: Exchange): readonly ChatMessage[] {
  if (answer === '') return [];
  return [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ];
}

/** All exchanges where the id is left out. */
function exchangesBefore({ exchanges }: Chat, id: string | undefined): readonly Exchange[] {
  const index = exchanges.findIndex((exchange) => exchange.id === id);
  return index === -1 ? exchanges : exchanges.slice(0, index);
}

/** The exchange whose answer waits or runs. A chat asks one question at a time. */
export function activeExchange({ exchanges }: Chat): Exchange | undefined {
  return exchanges.find(({ end }) => !end);
}

/** The text for the user, without what the model thought. */
export function answerOf({ answer, generatedTexts }: RequestView): string {
  return answer ? answer.content : (generatedTexts[0] ?? '');
}

export function endOf(request: RequestView): AnswerEnd {
  const { status, error, finishReason, isStopped, seed, numOutputTokens, numPromptTokens } = request;
  const { numCachedTokens, ttftMs, tokensPerSecond, choiceProbabilities, answer } = request;
  return {
    status,
    numOutputTokens,
    ...(error && { error }),
    ...(finishReason && { finishReason }),
    ...(isStopped !== undefined && { isStopped }),
    ...(seed !== undefined && { seed }),
    ...(numPromptTokens !== undefined && { numPromptTokens }),
    ...(numCachedTokens !== undefined && { numCachedTokens }),
    ...(ttftMs !== undefined && { ttftMs }),
    ...(tokensPerSecond !== undefined && { tokensPerSecond }),
    ...(choiceProbabilities && { choiceProbabilities }),
    ...(answer?.reasoning && { thought: answer.reasoning }),
  };
}
