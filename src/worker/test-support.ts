import { textOfContent } from '../protocol/chat.ts';
import type { BatchRecord } from '../protocol/stats.ts';
import { DEFAULT_POLICY } from '../batching/generation/policy.ts';
import type { LoadedModel } from './runtime/loaded-model.ts';
import type { ChatTemplate } from './models/tokenizer/chat-template.ts';
import { ByteTextStream } from './models/tokenizer/text-stream.ts';
import type { Tokenizer } from './models/tokenizer/tokenizer.ts';
import type { FirstModelInit, HostMessage } from '../protocol/host-messages.ts';
import type { KnobSettings, TabNumbers, TabRole, WorkerStatus } from '../protocol/status.ts';
import { asClientId, createWorkerId, type OverrideId, type WorkerId } from '../protocol/ids.ts';
import type { ModelInfo, ServedModel } from '../protocol/models.ts';
import { readGenerationDefaults } from './models/generation-config.ts';
import type { Unsigned } from '../protocol/wire.ts';
import type { WorkerMessage } from '../protocol/worker-messages.ts';
import { type WorkerPast, NO_PAST } from '../protocol/recovery.ts';
import { ScriptedBackend } from './testing/scripted-backend.ts';
import type { ServeWorkerHost } from './serving/reports/host-reports.ts';
import type { LinkListener } from '../client/links/link.ts';
import { isStolen, type Locks } from '../protocol/locks.ts';
import type { WorkerPort } from '../client/links/worker-host.ts';
import { chatTemplateRefused } from '../protocol/errors/model-messages.ts';

/** Builders and fakes for the tests of this folder and its neighbors; production code never imports this file. */

/** Test support: a worker begins with this model unless the app names another one. */
export const EMBEDDED: FirstModelInit = { model: { type: 'embedded' }, dtype: 'auto' };

export function workerId(name: string): WorkerId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return name as WorkerId;
}

export function overrideId(name: string): OverrideId {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
  return name as OverrideId;
}

export function createKnobs(overrides: Partial<KnobSettings> = {}): KnobSettings {
  return { revision: 0, policy: DEFAULT_POLICY, deployments: [], ...overrides };
}

/** The first one leads. */
export function createTabNumbers(...names: readonly string[]): TabNumbers {
  const tabs = names.map((name, index) => ({ clientId: asClientId(name), number: index + 1 }));
  return { tabs, leader: asClientId(names[0] ?? 'tab'), last: tabs.length };
}

export function createWorkerStatus(overrides: Partial<WorkerStatus> = {}): WorkerStatus {
  return { state: 'loading', knobs: createKnobs(), tabs: createTabNumbers('tab'), ...overrides };
}

export function createServedModel(id = 'model'): ServedModel {
  return { id, backend: 'wasm', precision: 'fp32' };
}

/** A model without defaults of its own. */
export function createModelInfo(overrides: Partial<ModelInfo> = {}): ModelInfo {
  return {
    id: 'model',
    numParameters: 1,
    numLayers: 1,
    contextLength: 512,
    vocabSize: 2048,
    hasChatTemplate: false,
    generationDefaults: readGenerationDefaults({}, 512),
    ...overrides,
  };
}

interface LockRequest {
  isGranted: boolean;
  readonly clientId: string;
  readonly grant: () => void;
  readonly lose: () => void;
}

/** Exclusive locks, granted in order of request, never synchronously. */
export class FakeLocks implements Locks {
  readonly #queues = new Map<string, LockRequest[]>();

  request<Result>(name: string, callback: LockGrantedCallback<Result>): Promise<Awaited<Result>>;
  request<Result>(
    name: string,
    options: LockOptions,
    callback: LockGrantedCallback<Result>,
  ): Promise<Awaited<Result>>;
  request<Result>(
    name: string,
    ...rest: [LockGrantedCallback<Result>] | [LockOptions, LockGrantedCallback<Result>]
  ): Promise<Awaited<Result>> {
    return rest.length === 1 ? this.#request(name, {}, rest[0]) : this.#request(name, ...rest);
  }

  query(): Promise<LockManagerSnapshot> {
    const held = this.names.filter((name) => this.isHeld(name));
    const holderOf = (name: string): string => this.#queues.get(name)?.[0]?.clientId ?? '';
    return Promise.resolve({ held: held.map((name) => ({ name, clientId: holderOf(name) })) });
  }

  /** Takes a lock as another client would. Returns its release. */
  hold(name: string, clientId = 'other'): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#request(name, {}, () => promise, clientId).catch((error: unknown) => {
      if (!isStolen(error)) throw error;
    });
    return resolve;
  }

  /** Number of holders and waiters of this lock. */
  queueLength(name: string): number {
    return this.#queues.get(name)?.length ?? 0;
  }

  isHeld(name: string): boolean {
    return this.#queues.get(name)?.[0]?.isGranted ?? false;
  }

  /** Names of all locks with a holder or a waiter. */
  get names(): string[] {
    return [...this.#queues].filter(([, queue]) => queue.length > 0).map(([name]) => name);
  }

  async #request<Result>(
    name: string,
    { signal, steal = false }: LockOptions,
    callback: LockGrantedCallback<Result>,
    clientId = 'other',
  ): Promise<Awaited<Result>> {
    signal?.throwIfAborted();
    const queue = this.#queues.get(name) ?? [];
    this.#queues.set(name, queue);
    const granted = Promise.withResolvers<void>();
    const lost = Promise.withResolvers<never>();
    const lose = (): void => lost.reject(new DOMException('The lock was stolen.', 'AbortError'));
    const request = { isGranted: false, clientId, grant: () => granted.resolve(), lose };
    signal?.addEventListener('abort', () => {
      if (request.isGranted) return;
      queue.splice(queue.indexOf(request), 1);
      granted.reject(signal.reason);
    });
    if (!steal) queue.push(request);
    else if (queue[0]?.isGranted) queue.splice(0, 1, request).map((holder) => holder.lose());
    else queue.unshift(request);
    grantFirst(queue);
    await granted.promise;
    try {
      return await Promise.race([callback({ name, mode: 'exclusive' }), lost.promise]);
    } finally {
      if (queue[0] === request) queue.shift();
      grantFirst(queue);
    }
  }
}

/** Grants the lock to the first in the queue. An abort comes too late from now on, although the callback runs later. */
function grantFirst([first]: readonly LockRequest[]): void {
  if (!first) return;
  first.isGranted = true;
  first.grant();
}

/** A worker, as the tab that made it uses it. */
export class FakeWorkerPort implements WorkerPort {
  readonly received: unknown[] = [];
  isTerminated = false;
  readonly #events = new EventTarget();

  postMessage(message: unknown): void {
    this.received.push(structuredClone(message));
  }

  addEventListener(type: string, listener: (event: { data: unknown; message?: string }) => void): void {
    this.#events.addEventListener(type, (event) => {
      const detail: unknown = event instanceof CustomEvent ? event.detail : undefined;
      listener({ data: detail, ...(typeof detail === 'string' && { message: detail }) });
    });
  }

  terminate(): void {
    this.isTerminated = true;
  }

  say(data: unknown): void {
    this.#events.dispatchEvent(new CustomEvent('message', { detail: data }));
  }

  /** @param message Left out if the script could not be loaded. */
  fail(message?: string): void {
    this.#events.dispatchEvent(new CustomEvent('error', { detail: message }));
  }
}

/** The tab that made a worker. Records its messages. */
export interface RecordingServeHost extends ServeWorkerHost {
  readonly reports: Unsigned<HostMessage>[];
}

export function createServeHost(past: Partial<WorkerPast> = {}): RecordingServeHost {
  const reports: Unsigned<HostMessage>[] = [];
  return {
    workerId: createWorkerId(),
    past: { ...NO_PAST, ...past },
    tabs: createTabNumbers(),
    reports,
    whenAlone: () => Promise.resolve(),
    tell: (message) => reports.push(structuredClone(message)),
  };
}

/** Records the events of a link, one line each, and its messages. */
export class RecordingLinkListener implements LinkListener {
  readonly log: string[] = [];
  readonly messages: WorkerMessage[] = [];
  patienceMs: number | undefined;
  readonly tabNumbers = createTabNumbers();

  onOpen(): void {
    this.log.push('open');
  }

  onMessage(message: WorkerMessage): void {
    this.messages.push(message);
  }

  onInterrupted(): void {
    this.log.push('interrupted');
  }

  onRole(role: TabRole): void {
    this.log.push(role);
  }

  onLeader(isThere: boolean): void {
    this.log.push(isThere ? 'led' : 'no leader');
  }

  onSuspend(): void {
    this.log.push('suspended');
  }

  onForeignWorker(version: number): void {
    this.log.push(`foreign ${version}`);
  }

  onFailure(error: Error): void {
    this.log.push(`failure: ${error.message}`);
  }
}

/** Token i is the character after the i-th of this line; the scripted model counts up through it. */
const ALPHABET = Array.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789');

interface ScriptedModelOptions {
  /** The bytes of tokens that are not letters, by token ID. */
  readonly bytes?: ReadonlyMap<number, Uint8Array> | undefined;
  readonly chatTemplate?: ChatTemplate | undefined;
}

/**
 * Writes a chat as `Sab Ucd A`, without the spaces: the first letter of each role, the messages, and an `A` for the answer. The
 * variable `mood` comes before it. Two messages of one role in a row are refused.
 */
export const scriptedChatTemplate: ChatTemplate = {
  sourceFor: () => '',
  render(messages, { variables: { mood = '' } = {}, addGenerationPrompt = true } = {}) {
    if (messages.some(({ role }, index) => role === messages[index - 1]?.role))
      throw chatTemplateRefused('the roles do not alternate');
    const written = messages.map(
      ({ role, content }) => `${role.charAt(0).toUpperCase()}${textOfContent(content)}`,
    );
    return `${written.join('')}${String(mood)}${addGenerationPrompt ? 'A' : ''}`;
  },
};

/** A model that counts up through its vocabulary: `ab` goes on as `cde…`. */
export function createScriptedModel(
  backend: ScriptedBackend,
  { bytes = new Map(), chatTemplate }: ScriptedModelOptions = {},
): LoadedModel {
  const letters = ALPHABET.map((letter, id) => [id, new TextEncoder().encode(letter)] as const);
  const bytesOfToken = new Map([...letters, ...bytes]);
  const { config } = ScriptedBackend;
  const tokenizer: Tokenizer = {
    encode: lettersOf,
    // oxlint-disable-next-line require-yield -- texts of tests are one piece
    *encodeInPieces(text) {
      return lettersOf(text);
    },
    vocabulary: {
      spell: (id) => ALPHABET[id] ?? '',
      decode: (ids) => ids.map((id) => ALPHABET[id] ?? '').join(''),
      bytesOf: (id) => bytesOfToken.get(id),
    },
    frames: { single: ['A'], pair: ['A', 'B'] },
    maxTokenLength: 2,
    endTokenIds: [],
    chatTemplate,
    createTextStream: () => new ByteTextStream((id) => bytesOfToken.get(id)),
    withTokens: () => tokenizer,
  };
  return {
    config,
    tokenizer,
    backend,
    modelInfo: createModelInfo({
      id: 'scripted',
      contextLength: config.contextLength,
      vocabSize: config.vocabSize,
      hasChatTemplate: chatTemplate !== undefined,
      generationDefaults: readGenerationDefaults({ max_new_tokens: 3 }, config.contextLength),
    }),
    backendInfo: {
      name: 'wasm',
      rung: 'wasm',
      precision: 'fp32',
      adapter: 'none',
      fallbackReason: '',
    },
    deviceBytes: 1,
    checkedAs: { modelType: 'scripted', dtype: 'fp32', precision: 'float32' },
  };
}

/** Runs all pieces of a generator without a pause. */
export function runToEnd<Result>(work: Generator<unknown, Result>): {
  readonly numPieces: number;
  readonly value: Result;
} {
  for (let numPieces = 1; ; numPieces++) {
    const piece = work.next();
    if (piece.done) return { numPieces, value: piece.value };
  }
}

function lettersOf(text: string): number[] {
  return Array.from(text, (character) => ALPHABET.indexOf(character));
}

/**
 * Whether a value has the same types as one of the samples. In a sample, `undefined` accepts anything, and the field `*`
 * stands for all fields that it doesn't name.
 */
export function hasShapeOf(value: unknown, samples: readonly unknown[]): boolean {
  return samples.some((sample) => {
    if (sample === undefined) return true;
    if (Array.isArray(sample)) {
      return Array.isArray(value) && value.every((entry) => hasShapeOf(entry, sample));
    }
    if (typeof sample !== 'object' || sample === null) return typeof value === typeof sample;
    if (typeof value !== 'object' || value === null) return false;
    const fields = new Map<string, unknown>(Object.entries(sample));
    return Object.entries(value).every(([key, entry]) => {
      const field = fields.has(key) ? key : '*';
      if (!fields.has(field)) return false;
      return key === 'type' ? entry === fields.get(field) : hasShapeOf(entry, [fields.get(field)]);
    });
  });
}

/** A sample for `hasShapeOf`, in which the knob `prefillStallMs` has any type: it is a number or `auto`. */
export function freeStall(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(freeStall);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, entry]) => [key, key === 'prefillStallMs' ? undefined : freeStall(entry)]),
  );
}

/** One change inside a message, at index `place` modulo the number of places. */
export interface Mutation {
  readonly place: number;
  readonly change: 'replace' | 'remove' | 'add';
  readonly junk: unknown;
}

/** A copy of a message with this change. */
export function mutate(message: object, { place, change, junk }: Mutation): object {
  const copy = structuredClone(message);
  const places = placesIn(copy);
  const found = places[place % places.length];
  if (!found) return copy;
  if (change === 'replace') Reflect.set(found.parent, found.key, junk);
  else if (change === 'remove') Reflect.deleteProperty(found.parent, found.key);
  else Reflect.set(found.parent, `${found.key}x`, junk);
  return copy;
}

function placesIn(parent: object): { readonly parent: object; readonly key: string }[] {
  return Object.entries(parent).flatMap(([key, value]: [string, unknown]) => [
    { parent, key },
    ...(typeof value === 'object' && value !== null ? placesIn(value) : []),
  ]);
}

/** A full batch of four. */
export function createBatch(deployment: string, batchIndex: number): BatchRecord {
  return {
    deployment,
    batchIndex,
    queueLength: 0,
    reason: 'full',
    batchSize: 4,
    measuredSize: 4,
    maxBatchSize: 4,
    waitMs: 1,
    executionMs: 2,
    cancelled: 0,
    outcome: 'ok',
  };
}
