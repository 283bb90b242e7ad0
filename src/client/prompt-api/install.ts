import { createLanguageModel } from './create-language-model.ts';
import type { PromptApiOptions } from './types.ts';

/**
 * Defines `globalThis.LanguageModel` where the browser has none, and returns whether it did.
 *
 * @param options Options of `createLanguageModel`. `force` also replaces the browser's own.
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
