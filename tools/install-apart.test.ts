import { describe, expect, it } from 'vitest';

import { isInstalled } from './install-apart.ts';

const locked = { packages: { '': {}, 'node_modules/a': { version: '1.0.0' } } };

describe('isInstalled', () => {
  it('accepts the locked versions', () => {
    expect(isInstalled(locked, { packages: { 'node_modules/a': { version: '1.0.0' } } })).toBe(true);
  });

  it('accepts a folder without an optional package, as those for other platforms are', () => {
    const packages = { 'node_modules/a-darwin': { version: '1.0.0', optional: true } };
    expect(isInstalled({ packages }, { packages: {} })).toBe(true);
    const other = { 'node_modules/a-darwin': { version: '1.0.1', optional: true } };
    expect(isInstalled({ packages }, { packages: other })).toBe(false);
  });

  it('refuses another version, and a folder without the package', () => {
    expect(isInstalled(locked, { packages: { 'node_modules/a': { version: '1.0.1' } } })).toBe(false);
    expect(isInstalled(locked, { packages: {} })).toBe(false);
  });
});
