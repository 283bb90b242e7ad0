import { describe, expect, it } from 'vitest';
import { RequestCancelledError } from '../batching/base/errors.ts';
import { requestId } from '../batching/generation/test-support.ts';
import { GenerationResponse } from './responses.ts';

/** A response whose end is played: its `cancel` ends it as the client does. */
function createResponse() {
  const id = requestId('a');
  const reasons: unknown[] = [];
  const response = new GenerationResponse(id, (reason) => {
    reasons.push(reason);
    const error = RequestCancelledError.because(reason);
    response.apply({ type: 'failed', requestId: id, error: { code: error.code, message: '' } }, error);
  });
  const say = (...texts: readonly string[]): void => {
    for (const text of texts) response.apply({ type: 'chunk', requestId: id, index: 0, text, tokenIds: [1] });
  };
  const finish = (): void => {
    const choice = { text: 'Hi!', generatedText: '!', tokenIds: [1], finishReason: 'stop', seed: 1 } as const;
    const usage = { numPromptTokens: 1, numCachedTokens: 0, numOutputTokens: 1 };
    const timings = { queueWaitMs: 0, ttftMs: 0, e2eMs: 0, tpotMs: 0 };
    response.apply({
      type: 'finished',
      requestId: id,
      result: { ...choice, choices: [choice], usage, timings },
    });
  };
  return { response, reasons, say, finish, isCancelled: () => reasons.length > 0 };
}

/** Reads one chunk, then leaves the loop. */
async function peek(response: GenerationResponse): Promise<string> {
  for await (const { text } of response) return text;
  return '';
}

describe('await', () => {
  it('gives the result, as result() does', async () => {
    const { response, finish } = createResponse();
    finish();
    expect(await response).toBe(await response.result());
    await expect(response.then(({ text }) => text)).resolves.toBe('Hi!');
  });

  it('throws the error that ended the request', async () => {
    const { response } = createResponse();
    response.cancel();
    await expect(response).rejects.toMatchObject({ name: 'AbortError', code: 'REQUEST_CANCELLED' });
    await expect(response).rejects.toBeInstanceOf(RequestCancelledError);
  });
});

describe('leaving a loop', () => {
  it('cancels the request that nobody waits for', async () => {
    const { response, say, isCancelled } = createResponse();
    say('a', 'b');
    expect(await peek(response)).toBe('a');
    expect(isCancelled()).toBe(true);
    await expect(response).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('cancels it also where the loop’s body throws', async () => {
    const { response, say, isCancelled } = createResponse();
    say('a');
    const failing = (async () => {
      for await (const { text } of response) throw new Error(text);
    })();
    await expect(failing).rejects.toThrow('a');
    expect(isCancelled()).toBe(true);
  });

  it.each([
    ['result()', (response: GenerationResponse) => response.result()],
    ['result() with a timeout', (response: GenerationResponse) => response.result({ timeoutMs: 60_000 })],
    ['then', (response: GenerationResponse) => response.then((result) => result)],
  ])('lets it run for a caller of %s', async (_, wait) => {
    const { response, say, finish, isCancelled } = createResponse();
    const waiting = wait(response);
    say('a');
    await peek(response);
    expect(isCancelled()).toBe(false);
    finish();
    expect((await waiting).text).toBe('Hi!');
  });

  it('cancels it once a timed result() has given up', async () => {
    const { response, say, isCancelled } = createResponse();
    await expect(response.result({ timeoutMs: 0 })).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    say('a');
    await peek(response);
    expect(isCancelled()).toBe(true);
  });

  it('lets it run for another loop, until that one is left too', async () => {
    const { response, say, isCancelled } = createResponse();
    say('a');
    const other = response[Symbol.asyncIterator]();
    await other.next();
    await peek(response);
    expect(isCancelled()).toBe(false);
    await other.return(undefined);
    expect(isCancelled()).toBe(true);
  });

  it('cancels it at once, while the next chunk is awaited', async () => {
    const { response, isCancelled } = createResponse();
    const iteration = response[Symbol.asyncIterator]();
    const next = iteration.next();
    void iteration.return(undefined);
    expect(isCancelled()).toBe(true);
    await expect(next).rejects.toMatchObject({ name: 'AbortError' });
  });
});

it('a response that goes out of its scope is cancelled', () => {
  const { response, isCancelled } = createResponse();
  response[Symbol.dispose]();
  expect(isCancelled()).toBe(true);
});
