import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { createFolder } from '../testing/test-support.ts';
import { createProfile, defaultProfile, profileOf } from './profile-folder.ts';

const defaultOn = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv) => defaultProfile({ platform, env });

it('the profile lies in the folder for caches', () => {
  expect(defaultOn('linux', { XDG_CACHE_HOME: '/cache' })).toBe(join('/cache', 'tabserve', 'browser'));
  expect(defaultOn('linux', {})).toMatch(/\.cache.tabserve.browser$/);
  expect(defaultOn('darwin', {})).toMatch(/Library.Caches.tabserve.browser$/);
  expect(defaultOn('win32', { LOCALAPPDATA: 'C:\\Local' })).toBe(join('C:\\Local', 'tabserve', 'browser'));
});

it.each(['root', 'model', 'embedder', 'reranker'])('a server with --%s keeps its models', (option) => {
  expect(profileOf({ [option]: 'any' })).toBe(defaultProfile());
  expect(profileOf({ [option]: 'any', profile: '/own' })).toBe('/own');
});

it('a server that names nothing to keep has a temporary profile', () => {
  expect(profileOf({})).toBe('');
});

it('an existing profile keeps its preferences, and a new one is created', async () => {
  const root = await createFolder({ 'old/Default/Preferences': '{}' });
  await createProfile(join(root, 'old'), 'http://a.localhost');
  expect(await readFile(join(root, 'old/Default/Preferences'), 'utf8')).toBe('{}');
  await createProfile(join(root, 'new'), 'http://a.localhost');
  expect(await readFile(join(root, 'new/Default/Preferences'), 'utf8')).toContain(
    '"http://a.localhost:80,*"',
  );
});

it('a folder that can’t be written is named, with the option', async () => {
  const root = await createFolder({ file: '' });
  await expect(createProfile(join(root, 'file'), 'http://a.localhost')).rejects.toMatchObject({
    code: 'CANNOT_WRITE_PROFILE',
    message: expect.stringMatching(/file.*--profile/),
  });
});
