import { beforeEach, describe, expect, it, vi } from 'vitest';
import { allowOwnScripts } from './own-scripts.ts';

type CreatePolicy = (name: string, rules: { createScriptURL(url: string): string }) => void;

beforeEach(() => vi.stubGlobal('location', new URL('https://tabserve.example/page?backend=wasm')));

describe('allowOwnScripts', () => {
  it('makes a default policy that lets scripts of this origin start as workers, and no other', () => {
    const createPolicy = vi.fn<CreatePolicy>();
    vi.stubGlobal('trustedTypes', { defaultPolicy: null, createPolicy });
    allowOwnScripts();
    const [name, rules] = createPolicy.mock.calls[0] ?? [];
    expect(name).toBe('default');
    expect(Object.keys(rules ?? {})).toEqual(['createScriptURL']);
    const own = 'https://tabserve.example/assets/main-abc.js';
    expect(rules?.createScriptURL(own)).toBe(own);
    expect(rules?.createScriptURL('/assets/main-abc.js')).toBe('/assets/main-abc.js');
    for (const foreign of [
      'https://evil.example/main.js',
      'http://tabserve.example/main.js',
      'blob:https://tabserve.example/0000',
      'data:text/javascript,0',
      '//evil.example/main.js',
    ]) {
      expect(() => rules?.createScriptURL(foreign)).toThrow(`No script of this origin: ${foreign}`);
    }
  });

  it('leaves a page that has a default policy to it, and a browser without Trusted Types alone', () => {
    const createPolicy = vi.fn<CreatePolicy>();
    vi.stubGlobal('trustedTypes', { defaultPolicy: {}, createPolicy });
    allowOwnScripts();
    expect(createPolicy).not.toHaveBeenCalled();
    vi.stubGlobal('trustedTypes', undefined);
    expect(() => allowOwnScripts()).not.toThrow();
  });
});
