import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { submitAll } from '../test-support.ts';
import { clientId, requestId } from '../../../batching/generation/test-support.ts';
import type { MeasuredEvent } from '../../../batching/metrics/generation-metrics.ts';
import type { Submission } from '../prompt-generator.ts';
import type { RequestUpdate } from '../../../protocol/requests.ts';
import type { UpstreamCall } from './completion-body.ts';
import { UpstreamGenerator } from './upstream-generator.ts';
import type { AnswerListener } from './upstream-connection.ts';
import { readUpstreamModel } from './upstream-model.ts';

function createGenerator() {
  const clock = new FakeClock();
  const updates: RequestUpdate[] = [];
  const measured: MeasuredEvent[] = [];
  const busyMs: number[] = [];
  const listeners = new Map<string, AnswerListener>();
  const asked: UpstreamCall[] = [];
  const cancelled: string[] = [];
  const generator = new UpstreamGenerator({
    connection: {
      ask: (id, call, listener) => {
        asked.push(call);
        listeners.set(id, listener);
      },
      cancel: (id) => cancelled.push(id),
    },
    model: readUpstreamModel({ url: 'http://gpu:8000' }, '{"data":[{"id":"gpt2","owned_by":"vllm"}]}'),
    clock,
    onUpdates: (batch) => updates.push(...batch),
    stats: {
      recordMeasured: (events, ms) => {
        measured.push(...events);
        busyMs.push(ms);
      },
      recordSubmitted: (count) => measured.push({ type: 'token', ttftMs: count }),
    },
  });
  const submit = (name: string, given: Partial<Submission> = {}) =>
    submitAll(generator, [
      {
        requestId: requestId(name),
        clientId: clientId('tab'),
        input: 'Once',
        options: { maxNewTokens: 2 },
        elapsedMs: 0,
        ...given,
      },
    ]);
  const say = (name: string, text: string, finishReason?: string) =>
    listeners
      .get(name)
      ?.onData(JSON.stringify({ choices: [{ index: 0, text, finish_reason: finishReason ?? null }] }));
  const types = (name: string) =>
    updates.flatMap((update) => (update.requestId === name ? [update.type] : []));
  return { clock, generator, updates, asked, measured, busyMs, listeners, cancelled, submit, say, types };
}

describe('UpstreamGenerator', () => {
  it('counts a request as waiting until the upstream takes it', () => {
    const { generator, submit, listeners } = createGenerator();
    submit('a');
    submit('b');
    expect(generator.gauges).toMatchObject({ numRunning: 0, numWaiting: 2 });
    listeners.get('a')?.onHead();
    expect(generator.gauges).toMatchObject({ numRunning: 1, numWaiting: 1 });
  });

  it('tells a whole answer, and how long the upstream was busy with it', () => {
    const { clock, submit, say, listeners, types, busyMs, generator } = createGenerator();
    submit('a');
    clock.advance(5);
    listeners.get('a')?.onHead();
    clock.advance(20);
    say('a', ' upon');
    clock.advance(30);
    say('a', ' a', 'length');
    listeners.get('a')?.onEnd();
    expect(types('a')).toEqual(['started', 'chunk', 'chunk', 'finished']);
    expect(busyMs).toEqual([5, 20, 30, 0]);
    expect(generator.gauges).toMatchObject({ numRunning: 0, numWaiting: 0 });
  });

  it('begins anew what a lost worker had begun, and only that', () => {
    const { submit, types } = createGenerator();
    submit('begun', { resumption: { choices: [{ tokenIds: [1] }], queueWaitMs: 3 } });
    submit('taken', { resumption: { choices: [], queueWaitMs: 3 } });
    submit('waiting', { resumption: { choices: [] } });
    expect(['begun', 'taken', 'waiting'].map(types)).toEqual([['restarted'], ['restarted'], []]);
  });

  it('cancels there what is cancelled here, and hears no more of it', () => {
    const { generator, submit, say, types, cancelled } = createGenerator();
    submit('a');
    generator.cancel(requestId('a'));
    generator.cancel(requestId('a'));
    say('a', ' upon');
    expect(cancelled).toEqual(['a']);
    expect(types('a')).toEqual(['failed']);
  });

  it('ends a request whose answer makes no sense, there too', () => {
    const { submit, listeners, updates, cancelled } = createGenerator();
    submit('a');
    listeners.get('a')?.onData('?');
    expect(updates).toMatchObject([{ type: 'failed', error: { code: 'UPSTREAM_BAD_ANSWER' } }]);
    expect(cancelled).toEqual(['a']);
  });

  it('refuses what no upstream needs to see', () => {
    const { submit, listeners } = createGenerator();
    expect(() => submit('a', { input: '' })).toThrow('prompt is empty');
    expect(() => submit('a', { input: 3 })).toThrow('`prompt`');
    expect(() => submit('a', { options: { maxNewTokens: -1 } })).toThrow('`maxNewTokens`');
    expect(() => submit('a', { options: { maxTokens: 1 } })).toThrow('Unknown option');
    expect(listeners.size).toBe(0);
  });

  it('asks for a chat, whose text is its answer, and refuses what no chat there can have', () => {
    const { submit, listeners, asked, updates } = createGenerator();
    const chat = { input: [{ role: 'user', content: 'Hi' }], options: {} };
    expect(() => submit('a', { ...chat, input: [{ role: 'user' }] })).toThrow('`prompt[0].content`');
    expect(() => submit('a', { ...chat, input: [] })).toThrow('prompt is empty');
    expect(() => submit('a', { ...chat, options: { promptLogprobs: 1 } })).toThrow('`promptLogprobs`');
    expect(() => submit('a', { ...chat, options: { maxNewTokens: 0 } })).toThrow('`maxNewTokens`');
    expect(listeners.size).toBe(0);
    submit('a', chat);
    listeners.get('a')?.onHead();
    const choice = { index: 0, delta: { content: 'Oh' }, finish_reason: 'stop' };
    listeners.get('a')?.onData(JSON.stringify({ choices: [choice] }));
    listeners.get('a')?.onEnd();
    expect(asked).toMatchObject([{ path: '/v1/chat/completions', body: { messages: chat.input } }]);
    expect(updates.at(-1)).toMatchObject({ type: 'finished', result: { text: 'Oh' } });
  });

  it('lets go of everything without a word', async () => {
    const { generator, submit, say, updates, cancelled } = createGenerator();
    submit('a');
    await generator.dropAll();
    say('a', ' upon');
    expect([updates, cancelled]).toEqual([[], ['a']]);
  });
});
