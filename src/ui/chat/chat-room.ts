import { createStore, type StoreApi } from 'zustand/vanilla';

import {
  TEXT_GENERATOR,
  type OptionName,
  type RequestId,
  type TabserveClient,
  type WireError,
} from '../../client/index.ts';
import {
  EMPTY_GENERATION_TEXTS,
  errorOfOptions,
  errorsOf,
  type GenerationErrors,
  type OptionsForm,
} from '../compose/generation-fields.ts';
import { canGenerate } from '../state/can-generate.ts';
import { isActive, type RequestView } from '../state/request-view.ts';
import { closeRun, type ServeStore } from '../state/serve-store.ts';
import { optionsFor, parseChatOptions } from './chat-options.ts';
import {
  activeExchange,
  answerOf,
  DEFAULT_SYSTEM_PROMPT,
  endOf,
  messagesFor,
  STARTER_PROMPTS,
  withChat,
  withEnd,
  withExchange,
  withNewChat,
  type Chat,
} from './chats.ts';
import type { RoomPlace, SavedRoom } from './room-store.ts';

export interface RoomView extends SavedRoom {
  readonly optionErrors: GenerationErrors;
  /** Why the last question was not sent. */
  readonly error?: WireError | undefined;
}

interface Destination {
  readonly chatId: string;
  readonly exchangeId: string;
}

/** Holds the chats outside React, so that tokens cause no render. The request's row has an answer while it grows. */
export class ChatRoom implements OptionsForm {
  readonly store: StoreApi<RoomView>;
  readonly #serve: TabserveClient;
  readonly #serveStore: ServeStore;
  readonly #place: RoomPlace;
  readonly #active = new Map<RequestId, Destination>();

  constructor(
    serve: TabserveClient,
    serveStore: ServeStore,
    place: RoomPlace,
    saved: SavedRoom = createRoom(),
  ) {
    this.#serve = serve;
    this.#serveStore = serveStore;
    this.#place = place;
    this.store = createStore<RoomView>(() => ({ ...saved, optionErrors: {} }));
    serveStore.subscribe(({ requests }, previous) => {
      if (requests !== previous.requests) this.#follow(requests);
    });
    this.store.subscribe((view, previous) => {
      const isSame = view.chats === previous.chats && view.systemPrompt === previous.systemPrompt;
      if (!isSame || view.texts !== previous.texts) this.save();
    });
  }

  /** Keeps the room for the next visit, answers that still grow included. */
  save(): void {
    const { chats, systemPrompt, texts } = this.store.getState();
    void this.#place.write({ chats: chats.map((chat) => this.#settled(chat)), systemPrompt, texts });
  }

  /** Returns its id. */
  newChat(): string {
    const id = crypto.randomUUID();
    this.#changeChats((chats) => withNewChat(chats, id));
    return id;
  }

  closeChat(id: string): void {
    this.stop(id);
    this.#changeChats((chats) => chats.filter((chat) => chat.id !== id));
  }

  setSystemPrompt(systemPrompt: string): void {
    this.store.setState({ systemPrompt });
  }

  /** @param systemPrompt Undefined brings the default back. */
  setOwnSystemPrompt(id: string, systemPrompt: string | undefined): void {
    this.#changeChats((chats) => withChat(chats, id, (chat) => ({ ...chat, systemPrompt })));
  }

  /**
   * Asks one chat, at its end or in place of an exchange, which is removed with all after it. Returns whether the question was sent.
   */
  ask(chatId: string, question: string, replacedId?: string): boolean {
    return this.#ask([chatId], question, replacedId);
  }

  /** Asks all chats at once, so that their answers share each step of the model. */
  askAll(question: string): boolean {
    return this.#ask(
      this.store.getState().chats.map(({ id }) => id),
      question,
    );
  }

  /** Ends the answer that runs and keeps what it has. */
  stop(chatId: string): void {
    for (const [requestId, destination] of this.#active)
      if (destination.chatId === chatId) this.#serve.cancel(requestId);
  }

  stopAll(): void {
    for (const requestId of this.#active.keys()) this.#serve.cancel(requestId);
  }

  changeOption(name: OptionName, text: string): void {
    this.store.setState(({ texts, optionErrors }) => ({
      texts: { ...texts, [name]: text },
      optionErrors: { ...optionErrors, [name]: undefined },
      error: undefined,
    }));
  }

  resetOptions(): void {
    this.store.setState({ texts: EMPTY_GENERATION_TEXTS, optionErrors: {}, error: undefined });
  }

  checkOptions(): void {
    this.store.setState(({ texts }) => ({ optionErrors: parseChatOptions(texts).errors }));
  }

  #ask(chatIds: readonly string[], question: string, replacedId?: string): boolean {
    if (question.trim() === '' || !canGenerate(this.#serveStore.getState().status.state)) return false;
    const { texts, chats, systemPrompt: defaultSystemPrompt } = this.store.getState();
    const { options, errors } = parseChatOptions(texts);
    const error = errorOfOptions(errors);
    this.store.setState({ optionErrors: errors, error });
    const asked = chats.filter((chat) => chatIds.includes(chat.id) && !activeExchange(chat));
    if (error || asked.length === 0) return false;
    closeRun(this.#serveStore);
    let next = chats;
    for (const chat of asked) {
      const prompt = messagesFor(chat, question, { defaultSystemPrompt, replacedId });
      const generator = this.#serve.getHandle(TEXT_GENERATOR);
      const { requestId } = generator.remote(prompt, optionsFor(options, chat.ordinal));
      const exchange = {
        id: replacedId ?? crypto.randomUUID(),
        question,
        answer: '',
        requestId,
        shape: texts.responseFormat || undefined,
      };
      this.#active.set(requestId, { chatId: chat.id, exchangeId: exchange.id });
      next = withChat(next, chat.id, () => withExchange(chat, exchange, replacedId));
    }
    this.store.setState({ chats: next });
    // A request may have ended already, as when nothing is served any more.
    this.#follow(this.#serveStore.getState().requests);
    return true;
  }

  #follow(requests: ReadonlyMap<RequestId, RequestView>): void {
    for (const [requestId, { chatId, exchangeId }] of this.#active) {
      const request = requests.get(requestId);
      if (!request || isActive(request.status)) continue;
      this.#active.delete(requestId);
      this.#changeChats((chats) =>
        withChat(chats, chatId, (chat) => withEnd(chat, exchangeId, answerOf(request), endOf(request))),
      );
      this.store.setState(({ optionErrors }) => ({
        optionErrors: { ...optionErrors, ...errorsOf(request.error) },
      }));
    }
  }

  /** The chat to store in case the page closes now, which also ends its request. */
  #settled(chat: Chat): Chat {
    const active = activeExchange(chat);
    if (!active) return chat;
    const request = active.requestId && this.#serveStore.getState().requests.get(active.requestId);
    const numOutputTokens = request?.numOutputTokens ?? 0;
    const end = { ...(request && endOf(request)), numOutputTokens, status: 'cancelled' } as const;
    return withEnd(chat, active.id, request ? answerOf(request) : '', end);
  }

  #changeChats(change: (chats: readonly Chat[]) => readonly Chat[]): void {
    this.store.setState(({ chats }) => ({ chats: change(chats) }));
  }
}

function createRoom(): SavedRoom {
  let chats: readonly Chat[] = [];
  for (const systemPrompt of STARTER_PROMPTS) chats = withNewChat(chats, crypto.randomUUID(), systemPrompt);
  return { chats, systemPrompt: DEFAULT_SYSTEM_PROMPT, texts: EMPTY_GENERATION_TEXTS };
}
