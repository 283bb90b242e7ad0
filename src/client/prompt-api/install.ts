import { createLanguageModel, type LanguageModelClass } from './create-language-model.ts';
import { createSemanticEmbedder } from './create-semantic-embedder.ts';
import { preferBrowser } from './prefer-browser.ts';
import type { PromptApiOptions } from './types.ts';

/**
 * Defines `globalThis.LanguageModel`, and `globalThis.SemanticEmbedder` unless the browser has its own. Where the browser has a
 * `LanguageModel`, that one is asked at each `availability()` and `create()`, and answers unless it is `unavailable`.
 *
 * @param options Options of `createLanguageModel` and `createSemanticEmbedder`. With `force` the browser's own is never asked.
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
