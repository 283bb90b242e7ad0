import { expect, it } from 'vitest';

import { DEFAULT_POLICY } from '../../../client/index.ts';
import { createStatus } from '../../testing/test-support.ts';
import { explainPolicy } from './policy-texts.ts';

it('says what the choice does', () => {
  expect(explainPolicy(createStatus(), 'off')).toMatch(/^One prompt at a time/);
});

it.each([
  [true, 'A test or check runs static. Your choice applies when it ends.'],
  [false, 'A test or check in another tab runs static. Your choice applies when it ends.'],
])('says whose load test hides the choice: of this tab is %s', (isOwn, text) => {
  const policy = { ...DEFAULT_POLICY, policy: 'static' } as const;
  expect(
    explainPolicy(createStatus({ policy, override: { isOwn, basePolicy: DEFAULT_POLICY } }), 'off'),
  ).toBe(text);
});
