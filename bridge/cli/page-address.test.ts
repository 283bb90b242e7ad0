import { join } from 'node:path';
import { expect, it } from 'vitest';

import { pageAddress } from './page-address.ts';
import { defaultProfile } from './profile-folder.ts';

it('the page reads its backend and its model from its address', () => {
  expect(pageAddress('http://a', {})).toBe('http://a');
  expect(pageAddress('http://a', { backend: 'wasm', model: 'owner/name', dtype: 'q8' })).toBe(
    'http://a/?backend=wasm&model=owner/name&dtype=q8',
  );
});

const profileOf = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv) => defaultProfile({ platform, env });

it('the profile lies in the folder for caches', () => {
  expect(profileOf('linux', { XDG_CACHE_HOME: '/cache' })).toBe(join('/cache', 'tabserve', 'browser'));
  expect(profileOf('linux', {})).toMatch(/\.cache.tabserve.browser$/);
  expect(profileOf('darwin', {})).toMatch(/Library.Caches.tabserve.browser$/);
  expect(profileOf('win32', { LOCALAPPDATA: 'C:\\Local' })).toBe(join('C:\\Local', 'tabserve', 'browser'));
});
