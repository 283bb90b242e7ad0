import { shallow } from 'zustand/shallow';
import { createStore, type StoreApi } from 'zustand/vanilla';

import {
  TEXT_GENERATOR,
  type ChatMessage,
  type OptionName,
  type RequestId,
  type TabserveClient,
  type TabserveStatus,
} from '../../../client/index.ts';
import { newId } from '../../browser/new-id.ts';
import { errorsOf, type OptionsForm } from '../../state/generation-fields.ts';
import { UNTOUCHED_OPTIONS, withOption } from '../../state/typed-options.ts';
import { toWireError } from '../../parts/to-wire-error.ts';
import { canGenerate } from '../../state/can-generate.ts';
import { isActive, type RequestView } from '../../state/request-view.ts';
import { closeRun, type ServeStore } from '../../state/serve-store.ts';
import { ChatList, joinTexts } from './chat-list.ts';
import { chatDefaults, COMPARED_TEMPERATURES, optionsFor } from './chat-options.ts';
import type { ChatPlace, SavedChats } from './chat-place.ts';
import {
  activeExchange,
  activeRequest,
  answerOf,
  endOf,
  isLost,
  messagesFor,
  newestOf,
  shownAnswer,
  withEnd,
  withExchange,
  withShown,
  withStopped,
  withVersion,
  type Answer,
  type Chat,
  type Exchange,
} from './chats.ts';
import { repeatsItself } from './repeats-itself.ts';
import { ALL, createRoomView, sharedOptions, type RoomView } from './room-view.ts';

interface Destination {
  readonly chatId: string;
  readonly exchangeId: string;
  /** Stopped because it repeated itself. */
  readonly isLoop?: boolean;
}

/** Messages, or the tokens of a chat with the beginning of an answer. */
type Prompt = readonly ChatMessage[] | readonly number[];

/** Asks the chats outside React, so that tokens cause no render. The request's row has an answer while it grows. */
export class ChatRoom implements OptionsForm {
  readonly store: StoreApi<RoomView>;
  readonly list: ChatList;
  readonly #serve: TabserveClient;
  readonly #serveStore: ServeStore;
  readonly #active = new Map<RequestId, Destination>();

  constructor(serve: TabserveClient, serveStore: ServeStore, place: ChatPlace, saved: SavedChats) {
    this.#serve = serve;
    this.#serveStore = serveStore;
    this.store = createStore<RoomView>(() => createRoomView(saved));
    this.list = new ChatList(this.store, place, {
      isWriting: (id) => this.isWriting(id),
      settled: (chat) => this.#settled(chat),
      stop: (id) => this.stop(id),
    });
    serveStore.subscribe(({ requests, status }, previous) => {
      if (requests !== previous.requests || status !== previous.status) this.#follow(requests);
    });
    this.store.subscribe((view, previous) => {
      if (!shallow(sharedOptions(view), sharedOptions(previous))) place.writeOptions(sharedOptions(view));
      if (view.chats === previous.chats) return;
      this.#returnQueues(view, previous);
      this.#drainQueues();
    });
  }

  /** @param key The id of a chat, or `ALL`. */
  setDraft(key: string, text: string): void {
    this.store.setState(({ drafts }) => ({ drafts: { ...drafts, [key]: text } }));
  }

  /**
   * Asks one chat at its end, once the answer before is over, or in place of an exchange, which is removed with all after it. Returns
   * whether the question was taken.
   */
  ask(chatId: string, question: string, replacedId?: string): boolean {
    return this.#ask([chatId], question, replacedId);
  }

  /** Asks all columns at once, so that their answers share each step of the model. */
  askAll(question: string): boolean {
    const { columns } = this.store.getState();
    return this.#ask(columns.length > 0 ? columns : [this.list.add()], question);
  }

  /** Asks one question in three new columns that differ in their temperature. */
  compareTemperatures(question: string): boolean {
    if (!this.#canAsk(question) || !this.#areValid([ALL])) return false;
    const settings = COMPARED_TEMPERATURES.map((temperature) => ({ texts: { temperature } }));
    return this.#ask(this.list.arrange(settings), question);
  }

  /** Asks for one more version of an answer, and takes away what follows. */
  regenerate(chatId: string, exchange: Exchange): boolean {
    const chat = this.list.get(chatId);
    if (!chat || !this.#isFree(chat) || !this.#areValid([chatId])) return false;
    if (chat.exchanges.at(-1) !== exchange) this.list.offerUndoOf('Removed later messages of', chatId);
    closeRun(this.#serveStore);
    const prompt = this.#promptOf(chat, exchange.question, exchange.id);
    this.#start(chat, exchange.id, prompt, (before, answer) => withVersion(before, exchange, answer));
    return true;
  }

  /** Goes on where the last answer was cut. */
  async continueAnswer(chatId: string, exchange: Exchange): Promise<void> {
    const chat = this.list.get(chatId);
    if (!chat || !this.#isFree(chat) || !this.#areValid([chatId])) return;
    const { text } = shownAnswer(exchange);
    try {
      // No chat template takes the beginning of an answer, so the tokens are put together here.
      const [before, begun] = await Promise.all([
        this.#serve.tokenizeChat(this.#promptOf(chat, exchange.question, exchange.id)),
        this.#serve.tokenize(text, { addSpecialTokens: false }),
      ]);
      // The chat has changed in the meantime.
      if (this.list.get(chatId) !== chat) return;
      closeRun(this.#serveStore);
      this.#start(chat, exchange.id, [...before.tokenIds, ...begun.tokenIds], (cut, { requestId }) =>
        withShown(cut, exchange.id, () => ({ text, ...(requestId && { requestId }) })),
      );
    } catch (error) {
      this.store.setState({ error: toWireError(error) });
    }
  }

  /** Puts a queued message back into the box of its chat. */
  takeBack(chatId: string, index: number): void {
    this.store.setState(({ queues, drafts }) => {
      const queue = queues[chatId] ?? [];
      const kept = queue.filter((_, other) => other !== index);
      const draft = joinTexts([drafts[chatId] ?? '', queue[index] ?? '']);
      return { queues: { ...queues, [chatId]: kept }, drafts: { ...drafts, [chatId]: draft } };
    });
  }

  /** Whether this tab asked for the answer that runs. */
  isWriting(chatId: string): boolean {
    return [...this.#active.values()].some((destination) => destination.chatId === chatId);
  }

  /** Ends the answer that runs and keeps what it has. Queued messages go back into the box. */
  stop(chatId: string): void {
    for (const [requestId, destination] of this.#active)
      if (destination.chatId === chatId) this.#serve.cancel(requestId);
  }

  stopAll(): void {
    for (const requestId of this.#active.keys()) this.#serve.cancel(requestId);
  }

  changeOption(name: OptionName, text: string): void {
    this.store.setState((view) => withOption(view, name, text));
  }

  resetOptions(): void {
    this.store.setState(UNTOUCHED_OPTIONS);
  }

  checkOptions(): void {
    const { texts } = this.store.getState();
    const { errors } = optionsFor(texts, { defaults: chatDefaults(this.#status), index: 0 });
    this.store.setState({ optionErrors: errors });
  }

  get #status(): TabserveStatus {
    return this.#serveStore.getState().status;
  }

  #ask(chatIds: readonly string[], question: string, replacedId?: string): boolean {
    if (!this.#canAsk(question) || !this.#areValid(chatIds)) return false;
    closeRun(this.#serveStore);
    for (const id of chatIds) {
      const chat = this.list.get(id);
      if (!chat) continue;
      if (this.#isFree(chat)) this.#askNow(chat, question, replacedId);
      else if (replacedId === undefined)
        this.#setQueue(id, [...(this.store.getState().queues[id] ?? []), question]);
      else return false;
    }
    // A request may have ended already, as when nothing is served any more.
    this.#follow(this.#serveStore.getState().requests);
    return true;
  }

  #askNow(chat: Chat, question: string, replacedId?: string): void {
    if (replacedId !== undefined) this.list.offerUndoOf('Edited', chat.id);
    const id = replacedId ?? newId();
    this.#start(chat, id, this.#promptOf(chat, question, replacedId), (before, answer) => {
      const exchange = { id, question, askedAtMs: Date.now(), answers: [answer], shown: 0 } as const;
      return withExchange(before, exchange, replacedId);
    });
  }

  #start(chat: Chat, exchangeId: string, prompt: Prompt, attach: (chat: Chat, answer: Answer) => Chat): void {
    const { requestId } = this.#serve
      .getHandle(TEXT_GENERATOR)
      .remote(prompt, this.#optionsFor(chat).options);
    this.#active.set(requestId, { chatId: chat.id, exchangeId });
    const shape = this.store.getState().texts.responseFormat || undefined;
    this.list.change(chat.id, (before) => attach(before, { text: '', requestId, shape }));
  }

  #promptOf(chat: Chat, question: string, replacedId?: string) {
    const { systemPrompt: defaultSystemPrompt } = this.store.getState();
    return messagesFor(chat, question, { defaultSystemPrompt, replacedId });
  }

  #optionsFor(chat: Chat | undefined) {
    const { texts, columns } = this.store.getState();
    const index = chat ? Math.max(0, columns.indexOf(chat.id)) : 0;
    return optionsFor(texts, { own: chat?.texts, defaults: chatDefaults(this.#status), index });
  }

  #canAsk(question: string): boolean {
    return question.trim() !== '' && canGenerate(this.#status.state);
  }

  /** Shows which option is wrong. */
  #areValid(chatIds: readonly string[]): boolean {
    const checked = chatIds.map((id) => this.#optionsFor(this.list.get(id)));
    const error = checked.find((each) => each.error)?.error;
    this.store.setState({ optionErrors: checked[0]?.errors ?? {}, error });
    return error === undefined;
  }

  /** Until the model is known, its defaults are not. */
  #isFree(chat: Chat): boolean {
    return this.#status.model !== undefined && canGenerate(this.#status.state) && !activeExchange(chat);
  }

  #setQueue(chatId: string, queue: readonly string[]): void {
    this.store.setState(({ queues }) => ({ queues: { ...queues, [chatId]: queue } }));
  }

  #follow(requests: ReadonlyMap<RequestId, RequestView>): void {
    for (const [requestId, { chatId, exchangeId, isLoop }] of this.#active) {
      const request = requests.get(requestId);
      if (!request) continue;
      if (isActive(request.status)) {
        if (!isLoop && !this.store.getState().allowsLoops && repeatsItself(newestOf(request))) {
          this.#active.set(requestId, { chatId, exchangeId, isLoop: true });
          this.#serve.cancel(requestId);
        }
        continue;
      }
      this.#active.delete(requestId);
      const ended = endOf(request, this.#status.model?.contextLength);
      const end = isLoop && ended.status === 'cancelled' ? { ...ended, isLoop } : ended;
      this.list.change(chatId, (chat) => withEnd(chat, exchangeId, answerOf(request), end));
      this.store.setState(({ optionErrors }) => ({
        optionErrors: { ...optionErrors, ...errorsOf(request.error) },
      }));
    }
    for (const id of this.store.getState().columns)
      if (!this.isWriting(id) && isLost(this.list.get(id), requests)) this.list.settle(id);
    this.#drainQueues();
  }

  #drainQueues(): void {
    for (const id of Object.keys(this.store.getState().queues)) {
      const chat = this.list.get(id);
      // An answer may have ended at once, and have let the next message go.
      const [first, ...others] = this.store.getState().queues[id] ?? [];
      if (first === undefined || !chat || !this.#isFree(chat)) continue;
      if (this.#areValid([id])) {
        this.#setQueue(id, others);
        this.#ask([id], first);
      } else this.takeBack(id, 0);
    }
  }

  /** Queued messages follow an answer that has ended by itself; after any other they go back into the box. */
  #returnQueues({ chats, queues }: RoomView, previous: RoomView): void {
    for (const [id, queue] of Object.entries(queues)) {
      const [before, after] = [previous.chats.get(id), chats.get(id)];
      if (!before || !activeExchange(before) || !after || activeExchange(after)) continue;
      const last = after.exchanges.at(-1);
      if (last && shownAnswer(last).end?.status !== 'finished') for (const _ of queue) this.takeBack(id, 0);
    }
  }

  /** The chat to store in case the page closes now, which also ends its request. */
  #settled(chat: Chat): Chat {
    const requestId = activeRequest(chat);
    return withStopped(chat, requestId && this.#serveStore.getState().requests.get(requestId));
  }
}
