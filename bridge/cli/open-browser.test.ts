import { expect, it } from 'vitest';

import { findOpener, openBrowser } from './open-browser.ts';

const url = 'http://localhost:8000';

it('uses the opener of each platform', () => {
  expect(findOpener(url, 'with-screen', { platform: 'darwin', env: {} })?.command).toBe('open');
  expect(findOpener(url, 'with-screen', { platform: 'win32', env: {} })?.args).toContain('start');
  expect(findOpener(url, 'with-screen', { platform: 'linux', env: { DISPLAY: ':0' } })?.command).toBe(
    'xdg-open',
  );
  expect(
    findOpener(url, 'with-screen', { platform: 'linux', env: { WAYLAND_DISPLAY: 'wayland-0' } })?.args,
  ).toEqual([url]);
});

it('opens nothing in CI and on a Linux machine without a screen', () => {
  expect(findOpener(url, 'with-screen', { platform: 'darwin', env: { CI: 'true' } })).toBeUndefined();
  expect(findOpener(url, 'with-screen', { platform: 'linux', env: {} })).toBeUndefined();
});

it('opens where it is told to, whatever it knows of the machine', () => {
  expect(findOpener(url, 'always', { platform: 'darwin', env: { CI: 'true' } })?.command).toBe('open');
  expect(findOpener(url, 'always', { platform: 'linux', env: {} })?.command).toBe('xdg-open');
});

it('does not fail where the opener is not installed', () => {
  const machine = { platform: 'darwin', env: {} } as const;
  expect(() => openBrowser(url, 'with-screen', machine)).not.toThrow();
});
