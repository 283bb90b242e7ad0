import { describe, expect, it } from 'vitest';

import { isInstalled } from './install-apart.ts';

const locked = { packages: { '': {}, 'node_modules/a': { version: '1.0.0' } } };

describe('isInstalled', () => {
  it('accepts the locked versions', () => {
    expect(isInstalled(locked, { packages: { 'node_modules/a': { version: '1.0.0' } } })).toBe(true);
  });

  it('refuses another version, and a folder without the package', () => {
    expect(isInstalled(locked, { packages: { 'node_modules/a': { version: '1.0.1' } } })).toBe(false);
    expect(isInstalled(locked, { packages: {} })).toBe(false);
  });
});
