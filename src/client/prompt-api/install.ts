import { createLanguageModel, type LanguageModelClass } from './create-language-model.ts';
import { createSemanticEmbedder } from './create-semantic-embedder.ts';
import type { PromptApiOptions, Availability, LanguageModelCreateCoreOptions } from './types.ts';

/**
 * Defines `globalThis.LanguageModel`, and `globalThis.SemanticEmbedder` unless the browser has its own. Where the browser has a
 * `LanguageModel`, that one is asked at each `availability()` and `create()`, and answers unless it is `unavailable`.
 *
 * @param options Options of `createLanguageModel` and `createSemanticEmbedder`. With `force` the browser's own is never asked.
 * @throws As `createLanguageModel`, which it calls.
 */
export function installPromptApi(options: PromptApiOptions & { readonly force?: boolean }): void {
  const made = createLanguageModel(options);
  const present: unknown = Reflect.get(globalThis, 'LanguageModel');
  Object.defineProperty(globalThis, 'LanguageModel', {
    value: !options.force && isLanguageModel(present) ? preferBrowser(present, made) : made,
    configurable: true,
    writable: true,
  });
  if (options.force || !('SemanticEmbedder' in globalThis))
    Object.defineProperty(globalThis, 'SemanticEmbedder', {
      value: createSemanticEmbedder(options),
      configurable: true,
      writable: true,
    });
}

function isLanguageModel(value: unknown): value is LanguageModelClass {
  return typeof value === 'function' && 'availability' in value && 'create' in value;
}

const hasInstance = Function.prototype[Symbol.hasInstance];

/**
 * Makes `made` leave the sessions that the browser's own class can create to that class. The browser is asked each time, because
 * its model may come or go while the page is open.
 */
function preferBrowser(browser: LanguageModelClass, made: LanguageModelClass): LanguageModelClass {
  const [availability, create] = [made.availability.bind(made), made.create.bind(made)];
  const ask = async (options: LanguageModelCreateCoreOptions | undefined): Promise<Availability> => {
    try {
      return await browser.availability(options);
    } catch {
      // If the options are at fault, `made` refuses them too.
      return 'unavailable';
    }
  };
  const members: Pick<LanguageModelClass, 'availability' | 'create'> = {
    async availability(options) {
      const own = await ask(options);
      return own === 'unavailable' ? availability(options) : own;
    },
    async create(options) {
      return (await ask(options)) === 'unavailable' ? create(options) : browser.create(options);
    },
  };
  /** Such as `params()` in an extension. */
  const others = Object.entries(Object.getOwnPropertyDescriptors(browser)).filter(
    ([name]) => !Object.hasOwn(made, name),
  );
  return Object.defineProperties(Object.assign(made, members), {
    ...Object.fromEntries(others),
    [Symbol.hasInstance]: {
      value: (session: unknown) => hasInstance.call(made, session) || hasInstance.call(browser, session),
    },
  });
}
