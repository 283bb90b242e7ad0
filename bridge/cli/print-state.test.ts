import { expect, it } from 'vitest';

import { clientId } from '../../src/batching/generation/test-support.ts';
import { TabserveClient } from '../../src/client/client.ts';
import type { LinkListener } from '../../src/client/links/link.ts';
import { NoTabError } from '../tabs/tab-link.ts';
import { printState } from './print-state.ts';

it('says nothing of a tab that takes longer than requests wait for one, and fails nobody', () => {
  const lines: string[] = [];
  let link: LinkListener | undefined;
  const serve = new TabserveClient(clientId('bridge'), (listener) => {
    link = listener;
    return { isolationReason: '', post: () => undefined, close: () => undefined };
  });
  printState(serve, 'http://localhost:8000', (line) => lines.push(line));
  link?.onFailure(NoTabError.at('http://localhost:8000'));
  expect(serve.status()).toMatchObject({ state: 'failed', error: { code: 'NO_TAB' } });
  link?.onFailure(new Error('no memory'));
  link?.onFailure(new Error('no memory'));
  serve.close();
  expect(lines).toEqual(['no memory']);
});
