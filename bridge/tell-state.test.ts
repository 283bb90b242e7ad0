import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { TabLink } from './tabs/tab-link.ts';
import { tellState } from './tell-state.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it('says nothing of a tab that takes longer than requests wait for one, and fails nobody', async () => {
  const lines: string[] = [];
  const { serve } = new TabLink({ url: () => 'http://localhost:8000', graceMs: 10_000 });
  tellState(serve, 'http://localhost:8000', (line) => lines.push(line));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(serve.status()).toMatchObject({ state: 'failed', error: { code: 'NO_TAB' } });
  serve.onFailure(new Error('no memory'));
  serve.onFailure(new Error('no memory'));
  serve.close();
  expect(lines).toEqual(['no memory']);
});
