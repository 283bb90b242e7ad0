import { expect, it } from 'vitest';
import { clientId } from '../../batching/generation/test-support.ts';
import { PROTOCOL_VERSION } from '../../protocol/wire.ts';
import { createWorkerStatus, workerId } from '../../worker/test-support.ts';
import { TabserveClient } from '../client.ts';
import type { LinkListener } from './link.ts';

it('rejects if the answer of a call does not fit its schema', async () => {
  let link: LinkListener | undefined;
  const serve = new TabserveClient(clientId('tab'), (listener) => {
    link = listener;
    return { isolationReason: '', post: () => undefined, close: () => undefined };
  });
  const from = { version: PROTOCOL_VERSION, workerId: workerId('A') } as const;
  link?.onMessage({ ...from, type: 'welcome', status: createWorkerStatus(), activity: [], batches: [] });
  const tokenization = serve.tokenize('Hi');
  const texts = serve.tokenTexts([1]);
  link?.onMessage({ ...from, type: 'call-answered', callId: 1, result: { modelId: 'm', tokenIds: ['1'] } });
  link?.onMessage({ ...from, type: 'call-answered', callId: 2, result: ['Hi'] });
  const suggestions = serve.suggestedModels();
  link?.onMessage({ ...from, type: 'call-answered', callId: 3, result: [{ id: 'a/b' }] });
  const knobs = serve.configure('adder', {});
  link?.onMessage({ ...from, type: 'call-answered', callId: 4, result: { maxBatchSize: 4 } });
  const deletion = serve.deleteModel('key');
  link?.onMessage({ ...from, type: 'call-answered', callId: 5, result: null });
  await expect(knobs).rejects.toThrow('Expected');
  await expect(deletion).rejects.toThrow('Expected');
  await expect(suggestions).rejects.toThrow('license');
  await expect(tokenization).rejects.toThrow('contextLength');
  expect(await texts).toEqual(['Hi']);
});
