import type { Answer } from '../../protocol/answers.ts';
import type { ChatMessage } from '../../protocol/chat.ts';
import { createClientId, type RequestId } from '../../protocol/ids.ts';
import type { GenerationOptions } from '../../protocol/generation.ts';
import { modelNameOf, type StoredModel } from '../../protocol/models.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import { DEFAULT_POLICY, type WorkerStatus } from '../../protocol/status.ts';
import { PROTOCOL_VERSION, type Unsigned } from '../../protocol/wire.ts';
import type { WorkerMessage } from '../../protocol/worker-messages.ts';
import { TabserveClient } from '../client.ts';
import type { Link, LinkListener, Outgoing } from '../links/link.ts';
import {
  createKnobs,
  createModelInfo,
  createServedModel,
  createWorkerStatus,
  workerId,
} from '../../worker/test-support.ts';

export const CONTEXT_LENGTH = 100;

export const CHAT_MODEL = createModelInfo({
  id: 'chat',
  contextLength: CONTEXT_LENGTH,
  vocabSize: 300,
  hasChatTemplate: true,
});

export const BASE_MODEL = { ...CHAT_MODEL, id: 'base', hasChatTemplate: false };

/** A prompt as it reached the worker. */
export interface Submitted {
  readonly requestId: RequestId;
  readonly input: readonly ChatMessage[] | readonly number[];
  readonly options: GenerationOptions;
}

/**
 * A worker that the test plays, at the other end of a client. Its template writes each message as its role's first letter, its content
 * and a full stop, and `A` for the beginning of an answer; a character is a token.
 */
export class PlayedWorker implements Link {
  readonly isolationReason = '';
  readonly submitted: Submitted[] = [];
  readonly received: Outgoing[] = [];
  readonly serve: TabserveClient;
  stored: readonly StoredModel[] = [];
  /** Answers a prompt at once, piece by piece; undefined leaves it to the test. */
  reply: ((submitted: Submitted) => readonly string[] | undefined) | undefined = () => ['fine'];
  #status: WorkerStatus;
  #listener: LinkListener | undefined;

  constructor(status: Partial<WorkerStatus> = {}) {
    const policy = { ...DEFAULT_POLICY, maxContextLength: Infinity };
    this.#status = createWorkerStatus({
      state: 'ready',
      model: CHAT_MODEL,
      knobs: createKnobs({ policy }),
      ...status,
    });
    this.serve = new TabserveClient(createClientId(), (listener) => {
      this.#listener = listener;
      queueMicrotask(() => {
        listener.onOpen();
        this.#say({ type: 'welcome', status: this.#status, activity: [], batches: [] });
      });
      return this;
    });
  }

  post(message: Outgoing): void {
    this.received.push(message);
    queueMicrotask(() => this.#take(message));
  }

  close(): void {}

  change(status: Partial<WorkerStatus>): void {
    this.#status = { ...this.#status, ...status };
    this.#say({ type: 'status', status: this.#status });
  }

  /** Answers the load that was asked for. */
  endLoad(error?: { readonly code: string; readonly message: string }): void {
    const call = this.received.findLast((message) => message.type === 'load-model');
    if (call?.type !== 'load-model') throw new Error('No load was asked for');
    const { callId, source } = call;
    if (!error) this.change({ state: 'ready', model: { ...CHAT_MODEL, id: modelNameOf(source) } });
    this.#say(
      error ? { type: 'call-refused', callId, error } : { type: 'call-answered', callId, result: undefined },
    );
  }

  update(...updates: readonly RequestUpdate[]): void {
    this.#say({ type: 'updates', updates });
  }

  /** @param answer The pieces taken apart. */
  answer({ requestId, input }: Submitted, pieces: readonly string[], answer?: Answer): void {
    const generatedText = pieces.join('');
    const choice = {
      text: generatedText,
      generatedText,
      tokenIds: [],
      finishReason: 'stop',
      seed: 1,
      ...(answer && { answer }),
    } as const;
    this.update(
      {
        type: 'started',
        requestId,
        queueWaitMs: 0,
        model: { ...createServedModel(), id: this.#status.model?.id ?? '' },
      },
      ...pieces.map((text) => ({ type: 'chunk', requestId, index: 0, text, tokenIds: [] }) as const),
      {
        type: 'finished',
        requestId,
        result: {
          ...choice,
          choices: [choice],
          usage: { numPromptTokens: input.length, numCachedTokens: 0, numOutputTokens: pieces.length },
          timings: { queueWaitMs: 0, ttftMs: 0, e2eMs: 0, tpotMs: 0 },
        },
      },
    );
  }

  #take(message: Outgoing): void {
    if (message.type === 'tokenize-chat') {
      const text = render(message.messages) + (message.addGenerationPrompt ? 'A' : '');
      if (text.includes('refuse me'))
        this.#say({
          type: 'call-refused',
          callId: message.callId,
          error: { code: 'CHAT_TEMPLATE_FAILED', message: 'The template refuses this.' },
        });
      else this.#answerTokens(message.callId, text);
    } else if (message.type === 'tokenize') this.#answerTokens(message.callId, message.text);
    else if (message.type === 'list-models')
      this.#say({ type: 'call-answered', callId: message.callId, result: this.stored });
    else if (message.type === 'submit') this.#submit(message);
  }

  #submit({ requestId, input, options }: Extract<Outgoing, { type: 'submit' }>): void {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what sessions send
    const submitted = { requestId, input, options } as Submitted;
    this.submitted.push(submitted);
    const pieces = submitted.options.maxNewTokens === 1 ? ['x'] : this.reply?.(submitted);
    if (pieces) this.answer(submitted, pieces);
  }

  #answerTokens(callId: number, text: string): void {
    const tokenIds = Array.from(text, (character) => character.charCodeAt(0));
    const { id: modelId, contextLength } = this.#status.model ?? CHAT_MODEL;
    this.#say({ type: 'call-answered', callId, result: { modelId, contextLength, tokenIds, spellings: [] } });
  }

  #say(message: Unsigned<WorkerMessage>): void {
    this.#listener?.onMessage({ version: PROTOCOL_VERSION, workerId: workerId('A'), ...message });
  }
}

/** Renders a chat like the worker's template. */
export function render(messages: readonly ChatMessage[]): string {
  return messages
    .map(({ role, content }) => `${role.charAt(0)}${typeof content === 'string' ? content : ''}.`)
    .join('');
}
