import type { LanguageModelClass } from './create-language-model.ts';
import type { Availability, LanguageModelCreateCoreOptions } from './types.ts';

const hasInstance = Function.prototype[Symbol.hasInstance];

/**
 * Makes `made` leave the sessions that the browser's own class can create to that class. The browser is asked each time, because
 * its model may come or go while the page is open.
 */
export function preferBrowser(browser: LanguageModelClass, made: LanguageModelClass): LanguageModelClass {
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
