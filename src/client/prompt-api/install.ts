import { createLanguageModel, type LanguageModelClass } from './create-language-model.ts';
import { preferBrowser } from './prefer-browser.ts';
import type { PromptApiOptions } from './types.ts';

/**
 * Defines `globalThis.LanguageModel`. Where the browser has its own, that one is asked at each `availability()` and `create()`,
 * and answers unless it is `unavailable`.
 *
 * @param options Options of `createLanguageModel`. With `force` the browser's own is never asked.
 */
export function installPromptApi(options: PromptApiOptions & { readonly force?: boolean }): void {
  const made = createLanguageModel(options);
  const present: unknown = Reflect.get(globalThis, 'LanguageModel');
  Object.defineProperty(globalThis, 'LanguageModel', {
    value: !options.force && isLanguageModel(present) ? preferBrowser(present, made) : made,
    configurable: true,
    writable: true,
  });
}

function isLanguageModel(value: unknown): value is LanguageModelClass {
  return typeof value === 'function' && 'availability' in value && 'create' in value;
}
