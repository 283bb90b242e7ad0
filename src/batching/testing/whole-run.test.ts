import { describe, expect, it, vi } from 'vitest';

import { integerOf } from './whole-run.ts';

describe('integerOf', () => {
  it('reads a variable of the environment, or takes the other number', () => {
    vi.stubEnv('SEED', '2147483647');
    expect(integerOf('SEED', 5)).toBe(2_147_483_647);
    vi.stubEnv('SEED', '0');
    expect(integerOf('SEED', 5)).toBe(0);
    vi.stubEnv('SEED', '');
    expect(integerOf('SEED', 5)).toBe(5);
    vi.stubEnv('SEED', undefined);
    expect(integerOf('SEED', 5)).toBe(5);
  });

  it.each(['nonsense', '-1', '1.5', '2147483648', '1e99', 'Infinity'])('refuses %s by name', (text) => {
    vi.stubEnv('E2E_SEED', text);
    expect(() => integerOf('E2E_SEED', 0)).toThrow(
      `Expected E2E_SEED to be an integer from 0 to 2147483647, got \`${text}\`.`,
    );
  });
});
