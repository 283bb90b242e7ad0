import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import { ClosedError, InvalidOptionError, RequestCancelledError } from '../batching/errors.ts';
import { Serve, type Endpoint, type GenerationResponse } from './client.ts';
import {
  PROTOCOL_VERSION,
  type BatchRecord,
  type ClientMessage,
  type GenerationResult,
  type RequestId,
  type RequestUpdate,
  type ServeStatus,
  type Unversioned,
  type WorkerMessage,
} from './protocol.ts';

class ScriptedWorker implements Endpoint {
  readonly received: ClientMessage[] = [];
  isTerminated = false;
  readonly #listeners = new Map<string, (event: { data: WorkerMessage; message: string }) => void>();

  postMessage(message: ClientMessage): void {
    this.received.push(structuredClone(message));
  }

  addEventListener(type: string, listener: (event: { data: WorkerMessage; message: string }) => void): void {
    this.#listeners.set(type, listener);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  say(message: Unversioned<WorkerMessage>): void {
    this.#listeners.get('message')?.({ data: { version: PROTOCOL_VERSION, ...message }, message: '' });
  }

  update(...updates: RequestUpdate[]): void {
    this.say({ type: 'updates', updates });
  }

  crash(message: string): void {
    this.#listeners.get('error')?.({
      data: { version: PROTOCOL_VERSION, type: 'updates', updates: [] },
      message,
    });
  }

  /** Types of the messages received, in order. */
  get types(): string[] {
    return this.received.map(({ type }) => type);
  }
}

function createServe() {
  const worker = new ScriptedWorker();
  const serve = new Serve(worker, { backend: 'auto', modelUrl: 'http://localhost/models/storyteller/' });
  const updates: RequestUpdate[] = [];
  serve.subscribe('requests', (batch) => updates.push(...batch));
  return { worker, serve, updates, generator: serve.getHandle('text-generator') };
}

function resultOf(generatedText: string): GenerationResult {
  return {
    text: `Hi${generatedText}`,
    generatedText,
    tokenIds: [1],
    finishReason: 'length',
    seed: 7,
    usage: { numPromptTokens: 1, numOutputTokens: 1 },
    timings: { queueWaitMs: 0, ttftMs: 1, e2eMs: 1, tpotMs: 0 },
  };
}

async function textsOf(response: GenerationResponse): Promise<string[]> {
  const texts: string[] = [];
  for await (const { text } of response) texts.push(text);
  return texts;
}

const BATCH: BatchRecord = {
  deployment: 'adder',
  batchIndex: 0,
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

const chunk = (requestId: RequestId, text: string): RequestUpdate => ({
  type: 'chunk',
  requestId,
  text,
  tokenIds: [1],
});

describe('Serve', () => {
  it('starts the worker with the model and the backend', () => {
    const { worker } = createServe();
    expect(worker.received).toEqual([
      {
        version: PROTOCOL_VERSION,
        type: 'init',
        backend: 'auto',
        modelUrl: 'http://localhost/models/storyteller/',
      },
    ]);
  });

  it('sends a prompt with its options, without the signal, which cannot cross the wire', () => {
    const { worker, generator } = createServe();
    const { requestId } = generator.remote('Hi', { maxNewTokens: 3, signal: new AbortController().signal });
    expect(worker.received.at(-1)).toMatchObject({
      type: 'submit',
      requestId,
      input: 'Hi',
      options: { maxNewTokens: 3 },
    });
    expect(worker.received.at(-1)).not.toHaveProperty('options.signal');
  });

  it('gives chunks in order, then the result, to every iteration and every await', async () => {
    const { worker, generator } = createServe();
    const response = generator.remote('Hi');
    const early = textsOf(response);
    worker.update(chunk(response.requestId, ' there'));
    worker.update(chunk(response.requestId, ' you'), {
      type: 'finished',
      requestId: response.requestId,
      result: resultOf(' there you'),
    });
    expect(await early).toEqual([' there', ' you']);
    expect(await textsOf(response)).toEqual([' there', ' you']);
    expect(await response.result()).toBe(await response.result());
    expect((await response.result()).text).toBe('Hi there you');
  });

  it('publishes what happens to each request, the submission included', () => {
    const { worker, generator, updates } = createServe();
    const { requestId } = generator.remote('Hi');
    worker.update({ type: 'started', requestId, queueWaitMs: 2 }, chunk(requestId, '!'));
    expect(updates.map(({ type }) => type)).toEqual(['submitted', 'started', 'chunk']);
    expect(updates[0]).toEqual({ type: 'submitted', requestId, deployment: 'text-generator', input: 'Hi' });
  });

  it('re-creates an error as the class that its code names', async () => {
    const { worker, generator } = createServe();
    const response = generator.remote('Hi', { temperature: -1 });
    const error = { code: 'INVALID_OPTION', message: 'Expected `temperature` to be …' };
    worker.update({ type: 'failed', requestId: response.requestId, error });
    await expect(response.result()).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(response.result()).rejects.toMatchObject(error);
    await expect(textsOf(response)).rejects.toMatchObject(error);
  });

  it('tells an iteration the good chunks before the error', async () => {
    const { worker, generator } = createServe();
    const response = generator.remote('Hi');
    worker.update(chunk(response.requestId, 'a'), {
      type: 'failed',
      requestId: response.requestId,
      error: { code: 'MODEL_RUN_FAILED', message: 'The model run failed' },
    });
    const iterator = response[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: { text: 'a', tokenIds: [1] } });
    await expect(iterator.next()).rejects.toMatchObject({ code: 'MODEL_RUN_FAILED' });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });

  it('knows the last status, and calls a new status listener with it at once', () => {
    const { worker, serve } = createServe();
    const states: string[] = [];
    const unsubscribe = serve.subscribe('status', ({ state }) => states.push(state));
    worker.say({ type: 'status', status: { ...serve.status(), state: 'warming-up' } });
    unsubscribe();
    worker.say({ type: 'status', status: { ...serve.status(), state: 'ready' } });
    expect(states).toEqual(['loading', 'warming-up']);
    expect(serve.status().state).toBe('ready');
  });

  it('is ready when the model is, and rejects with the reason when it cannot be', async () => {
    const { worker, serve } = createServe();
    const ready = serve.ready();
    worker.say({ type: 'status', status: { ...serve.status(), state: 'ready' } });
    expect((await ready).state).toBe('ready');
    const failed: ServeStatus = {
      ...serve.status(),
      state: 'failed',
      error: { code: 'MODEL_FILE_MISSING', message: 'config.json' },
    };
    worker.say({ type: 'status', status: failed });
    await expect(serve.ready()).rejects.toMatchObject({
      name: 'ModelFileMissingError',
      code: 'MODEL_FILE_MISSING',
    });
  });

  it('passes knobs on and answers each call by itself', async () => {
    const { worker, serve } = createServe();
    const [good, bad] = [
      serve.configure('text-generator', { maxBatchSize: 4 }),
      serve.configure('text-generator', { maxBatchSize: 0 }),
    ];
    worker.say({ type: 'call-refused', callId: 2, error: { code: 'INVALID_OPTION', message: 'no' } });
    worker.say({ type: 'call-answered', callId: 1, result: { ...serve.status().policy, maxBatchSize: 4 } });
    await expect(bad).rejects.toBeInstanceOf(InvalidOptionError);
    expect((await good).maxBatchSize).toBe(4);
  });
});

describe('a deployment other than the text generator', () => {
  it('answers what is awaited, result() and every later call alike', async () => {
    const { worker, serve } = createServe();
    const response = serve.getHandle('adder').remote(3);
    expect(worker.received.at(-1)).toMatchObject({
      type: 'submit',
      deployment: 'adder',
      input: 3,
      options: {},
    });
    worker.update({ type: 'answered', requestId: response.requestId, result: 4 });
    expect(await response).toBe(4);
    expect(await response.result({ timeoutMs: 0 })).toBe(4);
    expectTypeOf(await response).toBeNumber();
  });

  it('rejects every way of asking with the same error', async () => {
    const { worker, serve } = createServe();
    const response = serve.getHandle<string, string>('shout').remote('hi');
    const error = { code: 'UNKNOWN_DEPLOYMENT', message: 'There is no deployment `shout`' };
    worker.update({ type: 'failed', requestId: response.requestId, error });
    await expect(response).rejects.toMatchObject(error);
    await expect(response.result()).rejects.toMatchObject({ name: 'UnknownDeploymentError' });
  });

  it('is cancelled by cancel() and by a signal', async () => {
    const { worker, serve } = createServe();
    const controller = new AbortController();
    const [first, second] = [
      serve.getHandle('adder').remote(1),
      serve.getHandle('adder').remote(2, { signal: controller.signal }),
    ];
    first.cancel();
    controller.abort('bored');
    await expect(first).rejects.toBeInstanceOf(RequestCancelledError);
    await expect(second).rejects.toMatchObject({ cause: 'bored' });
    expect(worker.types).toEqual(['init', 'submit', 'submit', 'cancel', 'cancel']);
  });

  it('keeps its last 200 batches and publishes each', () => {
    const { worker, serve } = createServe();
    const published: number[] = [];
    serve.subscribe('batch', ({ batchIndex }) => published.push(batchIndex));
    for (let batchIndex = 0; batchIndex < 201; batchIndex++) {
      worker.say({ type: 'batch', batch: { ...BATCH, batchIndex } });
    }
    expect(published).toHaveLength(201);
    expect(serve.batches('adder').map(({ batchIndex }) => batchIndex)).toEqual(published.slice(1));
    expect(serve.batches('house-price')).toEqual([]);
  });

  it('asks the worker for its metrics', async () => {
    const { worker, serve } = createServe();
    const metrics = serve.metrics();
    expect(worker.received.at(-1)).toMatchObject({ type: 'metrics', callId: 1 });
    worker.say({ type: 'call-answered', callId: 1, result: '# HELP' });
    expect(await metrics).toBe('# HELP');
  });
});

describe('cancellation', () => {
  it('rejects the caller at once, tells the worker, and drops what still arrives', async () => {
    const { worker, generator, updates } = createServe();
    const response = generator.remote('Hi');
    response.cancel();
    response.cancel();
    worker.update(chunk(response.requestId, 'late'));
    await expect(response.result()).rejects.toBeInstanceOf(RequestCancelledError);
    expect(worker.types).toEqual(['init', 'submit', 'cancel']);
    expect(updates.map(({ type }) => type)).toEqual(['submitted', 'failed']);
  });

  it('follows a signal and keeps its reason', async () => {
    const { worker, generator } = createServe();
    const controller = new AbortController();
    const response = generator.remote('Hi', { signal: controller.signal });
    controller.abort('bored');
    await expect(response.result()).rejects.toMatchObject({ code: 'REQUEST_CANCELLED', cause: 'bored' });
    expect(worker.types).toEqual(['init', 'submit', 'cancel']);
  });

  it('never submits where the signal has aborted before', async () => {
    const { worker, generator } = createServe();
    const response = generator.remote('Hi', { signal: AbortSignal.abort('before') });
    await expect(response.result()).rejects.toMatchObject({ code: 'REQUEST_CANCELLED', cause: 'before' });
    expect(worker.types).toEqual(['init']);
  });

  it('lets go of the signal when the request has ended', () => {
    const { worker, generator } = createServe();
    const { signal } = new AbortController();
    const removed = vi.spyOn(signal, 'removeEventListener');
    const { requestId } = generator.remote('Hi', { signal });
    worker.update({ type: 'finished', requestId, result: resultOf('!') });
    expect(removed).toHaveBeenCalledOnce();
  });

  it('does nothing to a request that has finished', async () => {
    const { worker, generator } = createServe();
    const response = generator.remote('Hi');
    worker.update({ type: 'finished', requestId: response.requestId, result: resultOf('!') });
    response.cancel();
    expect((await response.result()).generatedText).toBe('!');
    expect(worker.types).toEqual(['init', 'submit']);
  });
});

describe('the end of the worker', () => {
  it('close() rejects what is outstanding and what comes after', async () => {
    const { worker, serve, generator } = createServe();
    const response = generator.remote('Hi');
    const configured = serve.configure('text-generator', {});
    serve.close();
    serve.close();
    expect(worker.isTerminated).toBe(true);
    await expect(response.result()).rejects.toBeInstanceOf(ClosedError);
    await expect(configured).rejects.toBeInstanceOf(ClosedError);
    await expect(generator.remote('again').result()).rejects.toBeInstanceOf(ClosedError);
    await expect(serve.configure('text-generator', {})).rejects.toBeInstanceOf(ClosedError);
    await expect(serve.ready()).rejects.toBeInstanceOf(ClosedError);
    expect(serve.status().state).toBe('closed');
  });

  it('a crashed worker fails what is outstanding and is told in the status', async () => {
    const { worker, serve, generator } = createServe();
    const response = generator.remote('Hi');
    worker.crash('out of memory');
    await expect(response.result()).rejects.toThrow(/out of memory/);
    await expect(generator.remote('again').result()).rejects.toThrow(/reload the page/);
    await expect(serve.configure('text-generator', {})).rejects.toThrow(/reload the page/);
    expect(serve.status()).toMatchObject({ state: 'failed', error: { code: 'INTERNAL_ERROR' } });
  });
});

describe('result({ timeoutMs })', () => {
  it('gives up waiting, while the request goes on', async () => {
    vi.useFakeTimers();
    const { worker, generator } = createServe();
    const response = generator.remote('Hi');
    const timedOut = response.result({ timeoutMs: 50 });
    vi.advanceTimersByTime(50);
    await expect(timedOut).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    worker.update({ type: 'finished', requestId: response.requestId, result: resultOf('!') });
    expect((await response.result({ timeoutMs: 50 })).generatedText).toBe('!');
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
  });
});

describe('rejects', () => {
  it('knobs that cannot be sent to the worker', async () => {
    const { serve } = createServe();
    const refused = serve.configure('adder', { maxBatchSize: () => 3 } as object);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  it('options that cannot be sent to the worker', async () => {
    const { generator } = createServe();
    const response = generator.remote('Hi', { stop: () => true } as object);
    await expect(response.result()).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  it.each([-1, Number.NaN, Infinity])('a time-out of %s', async (timeoutMs) => {
    const response = createServe().generator.remote('Hi');
    await expect(response.result({ timeoutMs })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });
});
