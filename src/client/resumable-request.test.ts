import { describe, expect, it } from 'vitest';
import { requestId } from '../batching/generation/test-support.ts';
import { ResumableRequest } from './resumable-request.ts';
import type { RequestUpdate } from '../protocol/requests.ts';
import { createServedModel } from '../worker/test-support.ts';

const ID = requestId('r');
const MODEL = createServedModel();

function createRequest(input: unknown = 'Hi', options: object = { seed: 7 }) {
  const applied: string[] = [];
  const response = { apply: ({ type }: RequestUpdate) => applied.push(type) };
  const submission = { requestId: ID, deployment: 'text-generator', input, options };
  return { request: new ResumableRequest(submission, response, 1000), applied };
}

const started = (queueWaitMs: number): RequestUpdate => ({
  type: 'started',
  requestId: ID,
  queueWaitMs,
  model: MODEL,
});

const chunk = (tokenIds: number[], ttftMs?: number, index = 0): RequestUpdate => ({
  type: 'chunk',
  requestId: ID,
  index,
  text: 'x',
  tokenIds,
  ...(ttftMs !== undefined && { ttftMs }),
});

describe('ResumableRequest', () => {
  it('is sent as it was submitted to the first worker', () => {
    const { request } = createRequest();
    expect(request.isSent).toBe(false);
    expect(request.takeMessage(1070)).toEqual({
      type: 'submit',
      requestId: ID,
      deployment: 'text-generator',
      input: 'Hi',
      options: { seed: 7 },
      elapsedMs: 70,
    });
    expect(request.isSent).toBe(true);
  });

  it('says to every later worker how far it has come and how long it has waited', () => {
    const { request } = createRequest();
    request.takeMessage(1000);
    request.apply(started(5));
    request.apply(chunk([3], 30));
    request.apply(chunk([4, 5]));
    expect(request.takeMessage(1070)).toMatchObject({
      input: 'Hi',
      options: { seed: 7 },
      elapsedMs: 70,
      resumption: { choices: [{ tokenIds: [3, 4, 5] }], queueWaitMs: 5, ttftMs: 30 },
    });
  });

  it('hands on the logprobs that it has, one per token', () => {
    const { request } = createRequest();
    request.takeMessage(1000);
    const logprobs = [{ tokenId: 3, logprob: -1, top: [] }];
    request.apply({ type: 'chunk', requestId: ID, index: 0, text: 'x', tokenIds: [3], logprobs });
    expect(request.takeMessage(1070)).toMatchObject({
      resumption: { choices: [{ tokenIds: [3], logprobs }] },
    });
  });

  it('keeps continuations apart, and knows which have ended', () => {
    const { request } = createRequest();
    request.takeMessage(1000);
    request.apply(chunk([3], 30, 2));
    request.apply(chunk([4], undefined, 0));
    request.apply(chunk([5], undefined, 2));
    request.apply({ type: 'chunk', requestId: ID, index: 0, text: '', tokenIds: [], finishReason: 'stop' });
    expect(request.takeMessage(1070)).toMatchObject({
      resumption: {
        choices: [{ tokenIds: [4], finishReason: 'stop' }, { tokenIds: [] }, { tokenIds: [3, 5] }],
      },
    });
  });

  it('has nothing to say of what has not happened yet', () => {
    const { request } = createRequest();
    request.takeMessage(1000);
    expect(request.takeMessage(1070)).toHaveProperty('resumption', { choices: [] });
    request.apply(started(5));
    expect(request.takeMessage(1080)).toHaveProperty('resumption', {
      choices: [],
      model: MODEL,
      queueWaitMs: 5,
      isAccepted: true,
    });
  });

  it('says to every later worker that one has accepted it, also one that another model begins anew', () => {
    const { request } = createRequest();
    request.takeMessage(1000);
    request.apply({ type: 'accepted', requestId: ID });
    request.apply({ type: 'restarted', requestId: ID, model: MODEL });
    expect(request.takeMessage(1070)).toHaveProperty('resumption', { choices: [], isAccepted: true });
  });

  it('keeps the first wait and the first token’s time, whichever worker goes on', () => {
    const { request } = createRequest();
    request.takeMessage(1000);
    request.apply(started(5));
    request.apply(chunk([3], 30));
    request.takeMessage(1070);
    request.apply(started(900));
    request.apply(chunk([4], 901));
    expect(request.takeMessage(2000)).toMatchObject({
      elapsedMs: 1000,
      resumption: { choices: [{ tokenIds: [3, 4] }], queueWaitMs: 5, ttftMs: 30 },
    });
  });

  it('hands out lists that later tokens do not change', () => {
    const { request } = createRequest();
    request.takeMessage(1000);
    request.apply(chunk([3]));
    const message = request.takeMessage(1000);
    request.apply(chunk([4]));
    expect(message).toHaveProperty('resumption.choices', [{ tokenIds: [3] }]);
  });

  it('is cut off from its caller’s objects by detach()', () => {
    const input = [1, 2];
    const options = { seed: 7 };
    const { request } = createRequest(input, options);
    request.detach();
    input.push(3);
    options.seed = 8;
    expect(request.takeMessage(1000)).toMatchObject({ input: [1, 2], options: { seed: 7 } });
  });

  it('cannot be cut off from what cannot be cloned', () => {
    const { request } = createRequest(() => 3);
    expect(request.detach()).toMatchObject({ code: 'INVALID_OPTION' });
  });

  it('passes every update on to whoever waits', () => {
    const { request, applied } = createRequest();
    request.apply(started(5));
    request.apply(chunk([3]));
    request.apply({ type: 'answered', requestId: ID, result: 4 });
    expect(applied).toEqual(['started', 'chunk', 'answered']);
  });
});
