import { afterEach, describe, expect, it, vi } from 'vitest';

import { PlayedWorker } from '../testing/played-worker.ts';
import type { LanguageModelClass } from './create-language-model.ts';
import { installPromptApi } from './install.ts';
import { LanguageModel } from './language-model.ts';
import type { Availability } from './types.ts';

/** The class of a browser that has the API, in the given state. */
function browserWith(state: Availability | Error) {
  const session = {};
  const create = vi.fn<(options?: object) => Promise<object>>(async () => session);
  class Native extends EventTarget {
    static async availability(_options?: object): Promise<Availability> {
      if (state instanceof Error) throw state;
      return state;
    }
    static readonly create = create;
    static async params(): Promise<object> {
      return { defaultTopK: 3 };
    }
  }
  Object.setPrototypeOf(session, Native.prototype);
  vi.stubGlobal('LanguageModel', Native);
  return { session, create };
}

function install(
  options: { readonly force?: boolean } = {},
): LanguageModelClass & { readonly params?: unknown } {
  installPromptApi({ serve: new PlayedWorker().serve, ...options });
  return Reflect.get(globalThis, 'LanguageModel');
}

afterEach(() => {
  vi.unstubAllGlobals();
  Reflect.deleteProperty(globalThis, 'LanguageModel');
});

describe('installPromptApi()', () => {
  it('defines the class in a browser that has none', async () => {
    const Installed = install();
    expect(Installed).toHaveProperty('name', 'LanguageModel');
    expect(await Installed.availability()).toBe('available');
    expect(await Installed.create()).toBeInstanceOf(LanguageModel);
  });

  it.each(['available', 'downloading', 'downloadable'] as const)(
    "leaves sessions to the browser's own class while it is %s",
    async (state) => {
      const { session, create } = browserWith(state);
      const Installed = install();
      expect(await Installed.availability()).toBe(state);
      const options = { initialPrompts: [{ role: 'system', content: 'Be brief.' }] } as const;
      const created = await Installed.create(options);
      expect(created).toBe(session);
      expect(created).toBeInstanceOf(Installed);
      expect(create).toHaveBeenCalledExactlyOnceWith(options);
    },
  );

  it.each([
    ['is unavailable', 'unavailable'],
    ['fails', new Error('no service')],
  ] as const)("answers where the browser's own class %s", async (_, state) => {
    const { create } = browserWith(state);
    const Installed = install();
    expect(await Installed.availability()).toBe('available');
    const session = await Installed.create();
    expect(session).toBeInstanceOf(LanguageModel);
    expect(session).toBeInstanceOf(Installed);
    expect(await session.clone()).toBeInstanceOf(Installed);
    expect(create).not.toHaveBeenCalled();
  });

  it('asks the browser each time, and about the session that is wanted', async () => {
    browserWith('unavailable');
    const native: LanguageModelClass = Reflect.get(globalThis, 'LanguageModel');
    const availability = vi
      .spyOn(native, 'availability')
      .mockImplementation(async ({ expectedInputs } = {}) => (expectedInputs ? 'unavailable' : 'available'));
    const Installed = install();
    const wanted = { expectedInputs: [{ type: 'text', languages: ['en'] }] } as const;
    expect(await Installed.create(wanted)).toBeInstanceOf(LanguageModel);
    expect(await Installed.create()).not.toBeInstanceOf(LanguageModel);
    expect(availability.mock.calls).toEqual([[wanted], [undefined]]);
  });

  it('refuses options that nobody takes', async () => {
    browserWith(new TypeError('no such mode'));
    const Installed = install();
    const options = JSON.parse('{"samplingMode": "wild"}');
    await expect(Installed.availability(options)).rejects.toBeInstanceOf(TypeError);
    await expect(Installed.create(options)).rejects.toBeInstanceOf(TypeError);
  });

  it('keeps the other members of the browser', async () => {
    browserWith('available');
    const { params } = install();
    expect(params).toBeTypeOf('function');
  });

  it("never asks the browser's own class if forced", async () => {
    const { create } = browserWith('available');
    const Installed = install({ force: true });
    expect(await Installed.create()).toBeInstanceOf(LanguageModel);
    expect('params' in Installed).toBe(false);
    expect(create).not.toHaveBeenCalled();
  });

  it('replaces a class of an older form of the API', async () => {
    vi.stubGlobal('LanguageModel', { capabilities: async () => ({}) });
    const Installed = install();
    expect(await Installed.availability()).toBe('available');
    expect('capabilities' in Installed).toBe(false);
  });
});
