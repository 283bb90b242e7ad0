import { expect, it } from 'vitest';

import { createRequest, createTables, idOf } from '../../testing/test-support.ts';
import { promptsOfRun } from './compared-prompts.ts';

const NOTHING_SENT = { sentAs: () => undefined };

it('repeats a request of the form with its own options, and without its timeout', () => {
  const tables = createTables([createRequest('a')], ['a']);
  const sent = { prompt: 'the whole prompt', options: { temperature: 0.7, timeoutMs: 100 } };
  const composer = { sentAs: (id: string) => (id === idOf('a') ? sent : undefined) };
  expect(promptsOfRun(tables, composer)).toEqual([
    { prompt: 'the whole prompt', options: { temperature: 0.7 }, seed: 7 },
  ]);
});

it('repeats any other request of this tab for as many tokens as it got', () => {
  const foreign = createRequest('theirs', { sender: 2 });
  const refused = createRequest('refused', { status: 'failed', numOutputTokens: 0 });
  const tables = createTables(
    [createRequest('earlier'), createRequest('own'), foreign, refused],
    ['own', 'theirs', 'refused'],
  );
  expect(promptsOfRun(tables, NOTHING_SENT)).toEqual([
    { prompt: 'own:', options: { maxNewTokens: 64 }, seed: 7 },
  ]);
});

it('repeats this tab’s last prompts also where another tab’s are newer', () => {
  const tables = createTables([createRequest('own'), createRequest('theirs', { sender: 2 })], ['own']);
  const theirs = { startedAtMs: 2000, requestIds: [idOf('theirs')] };
  const newer = { ...tables, runs: { ...tables.runs, prompts: theirs } };
  expect(promptsOfRun(newer, NOTHING_SENT).map(({ prompt }) => prompt)).toEqual(['own:']);
});
