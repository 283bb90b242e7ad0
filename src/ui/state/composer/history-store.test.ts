import { beforeEach, describe, expect, it, vi } from 'vitest';

import { EMPTY_GENERATION_TEXTS } from '../generation-fields.ts';
import type { HistoryEntry } from './history-store.ts';

function createEntry(key: string): HistoryEntry {
  return {
    key,
    finishedAt: '2026-01-01T00:00:00.000Z',
    model: 'storyteller',
    prompt: 'Once',
    texts: EMPTY_GENERATION_TEXTS,
    generatedTexts: [' upon'],
    numOutputTokens: 1,
  };
}

/** The store in a tab that has just been opened. */
function openHistory() {
  vi.resetModules();
  return import('./history-store.ts');
}

const BROKEN: readonly (readonly [string, unknown])[] = [
  ['has no IndexedDB', undefined],
  [
    'refuses to open one',
    {
      open() {
        throw new DOMException('denied', 'SecurityError');
      },
    },
  ],
  ['fails while it opens one', { open: failingRequest }],
];

describe.each(BROKEN)('in a browser that %s, the history', (_, indexedDB) => {
  beforeEach(() => vi.stubGlobal('indexedDB', indexedDB));

  it('is kept in memory, and says so once it is known', async () => {
    const history = await openHistory();
    expect(history.historyFailure()).toBeUndefined();
    await history.addToHistory(createEntry('1'));
    await history.addToHistory(createEntry('2'));
    await history.addToHistory(createEntry('1'));
    expect((await history.readHistory()).map(({ key }) => key)).toEqual(['2', '1']);
    expect(history.historyFailure()).toMatchObject({
      code: 'HISTORY_NOT_STORED',
      message: expect.stringContaining('is lost when the tab closes'),
    });
    await history.removeFromHistory('2');
    expect((await history.readHistory()).map(({ key }) => key)).toEqual(['1']);
    await history.clearHistory();
    expect(await history.readHistory()).toEqual([]);
  });

  it('keeps the newest 200', async () => {
    const history = await openHistory();
    for (let index = 0; index < 205; index++) await history.addToHistory(createEntry(String(1000 + index)));
    const kept = await history.readHistory();
    expect(kept).toHaveLength(200);
    expect(kept.at(-1)?.key).toBe('1005');
  });
});

/** The request as idb-keyval uses it. */
function failingRequest(): object {
  const request: { error: Error; onerror?: () => void } = { error: new Error('disk full') };
  queueMicrotask(() => request.onerror?.());
  return request;
}
