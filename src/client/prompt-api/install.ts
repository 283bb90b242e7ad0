import { createLanguageModel } from './create-language-model.ts';
import type { PromptApiOptions } from './types.ts';

/**
 * Defines `globalThis.LanguageModel` if the browser has none. Returns whether it did.
 *
 * @param options The options of `createLanguageModel`. `force` also replaces the browser's own class.
 */
export function installPromptApi(options: PromptApiOptions & { readonly force?: boolean }): boolean {
  if ('LanguageModel' in globalThis && !options.force) return false;
  Object.defineProperty(globalThis, 'LanguageModel', {
    value: createLanguageModel(options),
    configurable: true,
    writable: true,
  });
  return true;
}
