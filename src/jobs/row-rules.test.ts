import { expect, it } from 'vitest';
import { mayComeLater } from './may-come-later.ts';
import { numRowsFor } from './row-rules.ts';

it.each(['NO_TAB', 'NO_MODEL', 'BACK_PRESSURE', 'CLOSED', 'HUB_UNREACHABLE', 'SERVER_ACCESS_DENIED'])(
  'a row waits after %s, which says nothing about it',
  (code) => {
    expect(mayComeLater({ code })).toBe(true);
  },
);

it.each([
  'PROMPT_TOO_LONG',
  'INVALID_OPTION',
  'JOB_ROW_INVALID',
  'MODEL_RUN_FAILED',
  'SERVER_BAD_ANSWER',
  'own',
])('a row fails with %s, which is its own', (code) => {
  expect(mayComeLater({ code })).toBe(false);
});

it('the status of another server decides where there is one', () => {
  expect([400, 429, 500, 503].map((status) => mayComeLater({ code: '', status }))).toEqual([
    false,
    true,
    false,
    true,
  ]);
});

it('keeps as many rows waiting as run', () => {
  const policy = { policy: 'continuous', maxBatchSize: 8 } as const;
  expect([
    numRowsFor('text-generator', policy),
    numRowsFor('text-generator', { ...policy, policy: 'off' }),
    numRowsFor('embedder', policy),
  ]).toEqual([16, 2, 128]);
});
