import { expect, it, vi } from 'vitest';

import { NoModelError } from '../../src/protocol/errors/model.ts';
import { answerWith, mountBridge } from '../testing/test-support.ts';
import { rowsOfTab } from './ask-rows.ts';

it('embeds rows where only an encoder serves, and refuses those for a generator at once', async () => {
  const { bridge } = await mountBridge();
  vi.spyOn(bridge.serve, 'status').mockReturnValue({ ...bridge.serve.status(), state: 'ready' });
  answerWith(bridge, (input) =>
    typeof input === 'string'
      ? Promise.resolve({ embedding: [1, 0], numTokens: 2 })
      : { result: () => Promise.reject(NoModelError.of()) },
  );
  const { ask } = rowsOfTab(bridge.serve, { allowsAnyModel: true, allowsPriority: false });
  const context = { requestId: 'r', createdAt: 0, signal: AbortSignal.any([]) };
  const row = { index: 0, customId: 'a' };
  expect(await ask({ ...row, url: '/v1/embeddings', body: { input: 'Hi' } }, context)).toMatchObject({
    status: 200,
    body: { data: [{ embedding: [1, 0] }] },
  });
  const messages = [{ role: 'user', content: 'Hi' }];
  expect(await ask({ ...row, url: '/v1/chat/completions', body: { messages } }, context)).toMatchObject({
    status: 503,
    body: { error: { code: 'NO_MODEL' } },
  });
});
