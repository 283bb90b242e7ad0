import { describe, expect, it } from 'vitest';
import { clientId } from '../batching/generation/test-support.ts';
import { checkAppName, namesOf } from './names.ts';

function allNames(app: string | undefined): readonly string[] {
  const { sharedChannel, leaderLock, workerLock, versionLock, clientName } = namesOf(app);
  return [
    sharedChannel,
    leaderLock,
    workerLock,
    ...[1, 2].map((version) => versionLock(version)),
    ...['a', 'b', '', 'leader', 'worker', 'version:1'].map((name) => clientName(clientId(name))),
  ];
}

describe('namesOf', () => {
  it('gives no two things of one app the same name', () => {
    const names = allNames(undefined);
    expect(new Set(names).size).toBe(names.length);
  });

  it('gives two apps of one origin no name in common', () => {
    const names = [undefined, 'shop', 'shop-2', 'client', 'worker'].flatMap((app) => allNames(app));
    expect(new Set(names).size).toBe(names.length);
    expect(namesOf('shop').storageFolder).not.toBe(namesOf().storageFolder);
  });

  it('names a new lock for each worker', () => {
    const { createLifeName } = namesOf('shop');
    expect(createLifeName()).not.toBe(createLifeName());
  });
});

describe('checkAppName', () => {
  it('takes a name that is safe in the names of locks, channels and folders', () => {
    expect(() => checkAppName('my-shop_2')).not.toThrow();
  });

  it.each(['', 'a b', 'a:worker', '../a', 'a'.repeat(33)])('refuses %j and names the option', (app) => {
    expect(() => checkAppName(app)).toThrow(/`name`/);
  });
});
