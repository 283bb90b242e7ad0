import { describe, expect, it } from 'vitest';
import { OwnBrowser } from './own-browser.ts';

describe('the browser that the bridge runs', () => {
  const ours = new OwnBrowser();
  const { name, value } = ours.cookie;

  it.each<readonly [string, string | undefined, 'bridge' | 'user']>([
    ['its cookie alone', `${name}=${value}`, 'bridge'],
    ['its cookie among others', `a=1; ${name}=${value}; b=2`, 'bridge'],
    ['no cookie', undefined, 'user'],
    ['the cookie of another run of the bridge', `${name}=${new OwnBrowser().cookie.value}`, 'user'],
    ['the value under another name', `x${name}=${value}`, 'user'],
    ['the beginning of the value', `${name}=${value.slice(0, -1)}`, 'user'],
  ])('is told by %s', (_, cookie, owner) => {
    expect(ours.ownerOf({ headers: { cookie } })).toBe(owner);
  });
});
