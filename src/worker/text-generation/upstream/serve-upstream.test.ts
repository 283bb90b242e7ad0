import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../batching/testing/fake-clock.ts';
import { UpstreamError } from '../../../protocol/errors/upstream.ts';
import { serveUpstream } from './serve-upstream.ts';

const UNREACHABLE = new UpstreamError('UPSTREAM_UNREACHABLE', 'not there');
const CARD = '{"data":[{"id":"gpt2"}]}';

/** An upstream that answers the question for its models so, one answer after the other. */
async function start(...answers: readonly (string | Error)[]) {
  const clock = new FakeClock();
  const events: string[] = [];
  const rest = [...answers];
  await serveUpstream({
    upstream: { url: 'http://gpu:8000' },
    clock,
    connection: {
      async fetchModels() {
        const answer = rest.shift();
        events.push('asked');
        if (typeof answer === 'string') return answer;
        throw answer ?? new Error('Asked too often');
      },
      ask() {},
      cancel() {},
    },
    deployment: {
      async use({ id, backend }) {
        events.push(`uses ${backend}:${id}`);
      },
      fail: ({ code }) => events.push(`fails with ${code}`),
    },
    stats: { recordMeasured() {}, recordSubmitted() {} },
    onStatus: ({ state }, isOver) => events.push(`${state}${isOver ? ', nothing is wrong' : ''}`),
  });
  return { clock, events };
}

describe('an upstream', () => {
  it('serves when its model is known', async () => {
    const { events, clock } = await start(CARD);
    expect(events).toEqual(['asked', 'ready, nothing is wrong', 'uses upstream:gpt2']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that is not there yet is asked again, and serves when it is', async () => {
    const { clock, events } = await start(UNREACHABLE, UNREACHABLE, CARD);
    expect(events).toEqual(['asked', 'failed', 'fails with UPSTREAM_UNREACHABLE']);
    clock.advance(999);
    expect(events.splice(0)).toHaveLength(3);
    clock.advance(1);
    await Promise.resolve();
    expect(events).toContain('asked');
    await new Promise(setImmediate);
    events.splice(0);
    clock.advance(2000);
    await new Promise(setImmediate);
    expect(events).toEqual(['asked', 'ready, nothing is wrong', 'uses upstream:gpt2']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that answers with nonsense is not asked again', async () => {
    const { clock, events } = await start('<html>');
    expect(events).toEqual(['asked', 'failed', 'fails with UPSTREAM_BAD_ANSWER']);
    expect(clock.pendingTimers).toBe(0);
  });
});
