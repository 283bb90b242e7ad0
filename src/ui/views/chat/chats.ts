import type { ChatMessage, RequestId } from '../../../client/index.ts';
import type { GenerationTexts } from '../../state/generation-fields.ts';
import type { RequestView } from '../../state/request-view.ts';
import { newId } from '../../browser/new-id.ts';

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
  /** It repeated itself, and the page stopped it. */
  readonly isLoop?: boolean;
  /** The model's reasoning before the answer. */
  readonly thought?: string;
  /** The context of the model that answered, in tokens. */
  readonly contextLength?: number | undefined;
};

export interface Answer {
  /** While the request waits or runs, the beginning that it continues: its row has the rest. */
  readonly text: string;
  readonly requestId?: RequestId;
  /** Undefined while the request waits or runs. */
  readonly end?: AnswerEnd;
  /** The shape of the answer, as it was typed. */
  readonly shape?: string | undefined;
}

/** A message of the user and the model's answer. */
export interface Exchange {
  readonly id: string;
  readonly question: string;
  readonly askedAtMs: number;
  /** The versions of the answer, oldest first; at least one. */
  readonly answers: readonly [Answer, ...Answer[]];
  /** The index of the version in view, which the next question goes on from. */
  readonly shown: number;
}

export interface Chat {
  readonly id: string;
  /** Undefined until the user names it: then the first words are its title. */
  readonly title?: string | undefined;
  /** Undefined where the default applies. */
  readonly systemPrompt?: string | undefined;
  /** Its own options, as typed. The others are those of all chats. */
  readonly texts?: GenerationTexts | undefined;
  readonly exchanges: readonly Exchange[];
  /** When its last change was made, in any tab, by `Date.now()`. Each change has a later time. */
  readonly changedAtMs: number;
}

/** A new visitor's chats: three that answer the same question differently. */
export const STARTER_PROMPTS = [
  undefined,
  'Answer in one short sentence.',
  'Answer like an old sailor who tells a story.',
] as const;

export const DEFAULT_SYSTEM_PROMPT = 'You are a helpful assistant.';

/** The longest title that comes from a message, in characters. */
const MAX_TITLE_LENGTH = 40;

/** Settings that a chat may have for itself. */
export type ChatSettings = Pick<Chat, 'systemPrompt' | 'texts'>;

export function createChat(settings: ChatSettings = {}): Chat {
  return { ...settings, id: newId(), exchanges: [], changedAtMs: Date.now() };
}

/** A chat that nothing was said in is in no list and is not stored. */
export function isBlank({ title, exchanges }: Chat): boolean {
  return title === undefined && exchanges.length === 0;
}

/** The name that the user gave it, or the first words of the first message. */
export function titleOf({ title, exchanges: [first] }: Chat): string {
  if (title?.trim()) return title;
  const words = first?.question.trim().split(/\s+/, MAX_TITLE_LENGTH) ?? ['New', 'chat'];
  let text = '';
  for (const word of words) {
    if (text !== '' && text.length + word.length >= MAX_TITLE_LENGTH) return `${text}…`;
    text = text === '' ? word : `${text} ${word}`;
  }
  return text.length > MAX_TITLE_LENGTH ? `${text.slice(0, MAX_TITLE_LENGTH)}…` : text;
}

/** The options that a chat has of its own, in a few words each. */
export function describeOwn({ texts }: Chat): readonly string[] {
  const { temperature, seed } = texts ?? {};
  return [...(temperature ? [`T ${temperature}`] : []), ...(seed ? [`seed ${seed}`] : [])];
}

export function shownAnswer({ answers, shown }: Exchange): Answer {
  return answers[shown] ?? answers[0];
}

/** Asks at the end, or in place of an exchange, which is then removed with all after it. */
export function withExchange(chat: Chat, exchange: Exchange, replacedId?: string): Chat {
  return { ...chat, exchanges: [...exchangesBefore(chat, replacedId), exchange] };
}

/** Asks an exchange for one more answer, and takes away what follows. A version without text is replaced. */
export function withVersion(chat: Chat, exchange: Exchange, answer: Answer): Chat {
  const [first, ...others] = [...exchange.answers.filter(({ text }) => text !== ''), answer];
  const next = { ...exchange, answers: [first ?? answer, ...others] as const, shown: others.length };
  return withExchange(chat, next, exchange.id);
}

/** Puts another answer in place of the one in view. */
export function withShown(chat: Chat, exchangeId: string, change: (answer: Answer) => Answer): Chat {
  return withChanged(chat, exchangeId, (exchange) => {
    const [first, ...others] = exchange.answers.map((answer, index) =>
      index === exchange.shown ? change(answer) : answer,
    );
    return { ...exchange, answers: [first ?? exchange.answers[0], ...others] };
  });
}

/**
 * Does nothing to an answer that has ended: the one that the request wrote was taken back.
 *
 * @param text What the request has written, without the beginning that it continues.
 */
export function withEnd(chat: Chat, exchangeId: string, text: string, end: AnswerEnd): Chat {
  return withShown(chat, exchangeId, (answer) =>
    answer.end ? answer : { ...answer, text: answer.text + text, end },
  );
}

/** The chat as if its answer, which waits or runs, were stopped now. */
export function withStopped(chat: Chat, request: RequestView | undefined): Chat {
  const active = activeExchange(chat);
  if (!active) return chat;
  const numOutputTokens = request?.numOutputTokens ?? 0;
  const end = { ...(request && endOf(request)), numOutputTokens, status: 'cancelled' } as const;
  return withEnd(chat, active.id, request ? answerOf(request) : '', end);
}

export function withChanged(chat: Chat, exchangeId: string, change: (exchange: Exchange) => Exchange): Chat {
  const exchanges = chat.exchanges.map((exchange) =>
    exchange.id === exchangeId ? change(exchange) : exchange,
  );
  return { ...chat, exchanges };
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
function messagesOf(exchange: Exchange): readonly ChatMessage[] {
  const { text } = shownAnswer(exchange);
  if (text === '') return [];
  return [
    { role: 'user', content: exchange.question },
    { role: 'assistant', content: text },
  ];
}

/** All exchanges where the id is left out. */
function exchangesBefore({ exchanges }: Chat, id: string | undefined): readonly Exchange[] {
  const index = exchanges.findIndex((exchange) => exchange.id === id);
  return index === -1 ? exchanges : exchanges.slice(0, index);
}

/** The exchange whose answer waits or runs, in any tab: the last one. A chat asks one question at a time. */
export function activeExchange({ exchanges }: Chat): Exchange | undefined {
  const last = exchanges.at(-1);
  return last && !shownAnswer(last).end ? last : undefined;
}

/** The request of the answer that waits or runs. */
export function activeRequest(chat: Chat): RequestId | undefined {
  const active = activeExchange(chat);
  return active && shownAnswer(active).requestId;
}

/** Whether the tab that wrote the answer is gone: its requests are cancelled. Ask for another tab's answer alone. */
export function isLost(chat: Chat | undefined, requests: ReadonlyMap<RequestId, RequestView>): boolean {
  const id = chat && activeRequest(chat);
  return id !== undefined && requests.get(id)?.status === 'cancelled';
}

/** The newest end that says how much of the context is used. One that was stopped doesn't. */
export function contextEnd({ exchanges }: Chat): AnswerEnd | undefined {
  const ends = exchanges.map((exchange) => shownAnswer(exchange).end);
  return ends.findLast((end) => end?.numPromptTokens !== undefined);
}

/** The text for the user that the request has written so far, without what the model thought. */
export function answerOf({ answer, generatedTexts }: RequestView): string {
  return answer ? answer.content : (generatedTexts[0] ?? '');
}

/** The request's newest text: the answer, or the reasoning before it. */
export function newestOf(request: RequestView): string {
  return answerOf(request) || (request.answer?.reasoning ?? '');
}

export function endOf(request: RequestView, contextLength?: number): AnswerEnd {
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
    ...(contextLength !== undefined && { contextLength }),
    ...(choiceProbabilities && { choiceProbabilities }),
    ...(answer?.reasoning && { thought: answer.reasoning }),
  };
}

/**
 * All tabs agree on the later change. A tab that writes an answer keeps it: its end is a later change still. Equal times are one change,
 * of which storage has the answer as if it were stopped.
 */
export function mergeChat(mine: Chat | undefined, theirs: Chat, isWriting: boolean): Chat {
  if (mine && theirs.changedAtMs < mine.changedAtMs) return mine;
  return mine && isWriting ? { ...theirs, exchanges: mine.exchanges } : theirs;
}
