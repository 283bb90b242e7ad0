import { describe, expect, it, vi } from 'vitest';
import { defineDeployment } from './deployments/deployment.ts';
import { createClientId, createRequestId } from './ids.ts';
import { PROTOCOL_VERSION, type ClientMessage, type Unversioned, type WorkerMessage } from './protocol.ts';
import { ServeWorker } from './serve-worker.ts';

const shout = defineDeployment({
  name: 'shout',
  checkInput: (input) => String(input),
  async handler(texts) {
    return texts.map((text) => {
      if (text === 'silence') return new Error('nothing to shout');
      return text === 'function' ? () => text : text.toUpperCase();
    });
  },
});

function createWorker() {
  const sent: WorkerMessage[] = [];
  const worker = new ServeWorker([shout], (message) => sent.push(structuredClone(message)));
  const receive = (message: Unversioned<ClientMessage>) =>
    worker.receive({ version: PROTOCOL_VERSION, ...message });
  const submit = (deployment: string, input: unknown, requestId = createRequestId()) => {
    receive({ type: 'submit', requestId, clientId: createClientId(), deployment, input, options: {} });
    return requestId;
  };
  return { sent, receive, submit };
}

/** Lets handlers that are done already answer. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

describe('ServeWorker', () => {
  it('passes a request to its deployment and the answer back, then tells the batch', async () => {
    const { sent, submit } = createWorker();
    const requestId = submit('shout', 'hey');
    await settle();
    expect(sent.map(({ type }) => type)).toEqual(['batch', 'updates']);
    expect(sent[1]).toMatchObject({ updates: [{ type: 'answered', requestId, result: 'HEY' }] });
    expect(sent[0]).toMatchObject({
      batch: { deployment: 'shout', batchIndex: 0, batchSize: 1, reason: 'idle' },
    });
  });

  it('fails the caller alone whose answer cannot be sent', async () => {
    const { sent, receive, submit } = createWorker();
    receive({ type: 'configure', callId: 1, deployment: 'shout', knobs: { batchWaitTimeoutMs: 1 } });
    const [good, bad] = [submit('shout', 'hey'), submit('shout', 'function')];
    await vi.waitFor(() => expect(sent.filter(({ type }) => type === 'updates')).toHaveLength(2));
    expect(sent.filter(({ type }) => type === 'updates')).toMatchObject([
      { updates: [{ type: 'answered', requestId: good, result: 'HEY' }] },
      {
        updates: [
          { type: 'failed', requestId: bad, error: { message: expect.stringContaining('plain data') } },
        ],
      },
    ]);
  });

  it('refuses a request for a deployment that it has not, naming those it has', () => {
    const { sent, submit } = createWorker();
    submit('whisper', 'hey');
    expect(sent[0]).toMatchObject({
      updates: [
        {
          type: 'failed',
          error: {
            code: 'UNKNOWN_DEPLOYMENT',
            message: 'There is no deployment `whisper`: the deployments are text-generator, shout.',
          },
        },
      ],
    });
  });

  it('keeps a prompt that comes before the model, until it is cancelled', () => {
    const { sent, receive, submit } = createWorker();
    const requestId = submit('text-generator', 'Once');
    expect(sent).toEqual([]);
    receive({ type: 'cancel', requestId });
    receive({ type: 'cancel', requestId });
    expect(sent).toMatchObject([
      { type: 'updates', updates: [{ type: 'failed', requestId, error: { code: 'REQUEST_CANCELLED' } }] },
    ]);
  });

  it('turns knobs live and says so in the answer and in the status', () => {
    const { sent, receive } = createWorker();
    receive({ type: 'configure', callId: 1, deployment: 'shout', knobs: { maxBatchSize: 3 } });
    receive({ type: 'configure', callId: 2, deployment: 'text-generator', knobs: { policy: 'off' } });
    const knobs = { maxBatchSize: 3, batchWaitTimeoutMs: 0, maxConcurrentBatches: 1 };
    expect(sent).toMatchObject([
      { type: 'status', status: { deployments: [{ name: 'shout', knobs }] } },
      { type: 'call-answered', callId: 1, result: knobs },
      { type: 'status', status: { policy: { policy: 'off' } } },
      { type: 'call-answered', callId: 2, result: { policy: 'off' } },
    ]);
  });

  it.each([
    ['a bad knob', 'shout', { maxBatchSize: 0 }, 'INVALID_OPTION'],
    ['an unknown knob', 'text-generator', { size: 3 }, 'UNKNOWN_OPTION'],
    ['an unknown deployment', 'whisper', {}, 'UNKNOWN_DEPLOYMENT'],
  ])('refuses %s', (_, deployment, knobs, code) => {
    const { sent, receive } = createWorker();
    receive({ type: 'configure', callId: 7, deployment, knobs });
    expect(sent).toMatchObject([{ type: 'call-refused', callId: 7, error: { code } }]);
  });

  it('counts batches, refusals and cancellations in its metrics', async () => {
    const { sent, receive, submit } = createWorker();
    submit('shout', 'hey');
    submit('shout', 'silence');
    receive({ type: 'cancel', requestId: submit('shout', 'too late') });
    await settle();
    receive({ type: 'metrics', callId: 1 });
    const text = sent.flatMap((message) =>
      message.type === 'call-answered' ? [String(message.result)] : [],
    )[0];
    expect(text).toContain('serve_batches_processed_total{deployment="shout"} 2\n');
    expect(text).toContain('serve_requests_cancelled_total{deployment="shout"} 1\n');
  });
});
