import {
  checkOf,
  defaultText,
  expectedText,
  optionFromText,
  type GenerationOptions,
  type ModelInfo,
  type OptionName,
} from '../../client/index.ts';
import {
  EMPTY_GENERATION_TEXTS,
  GENERATION_FIELDS,
  type GenerationErrors,
  type GenerationField,
  type GenerationTexts,
  type ParsedGeneration,
} from './generation-fields.ts';
import { parseNumber } from '../parts/format.ts';
import { formatOf, hasChoices } from './typed-shape.ts';

/** A form of which nothing is typed, or refused. */
export const UNTOUCHED_OPTIONS = {
  texts: EMPTY_GENERATION_TEXTS,
  optionErrors: {},
  error: undefined,
} as const;

/** The form after an option is typed anew: its error, and that of what was last sent, are gone. */
export function withOption(
  { texts, optionErrors }: { readonly texts: GenerationTexts; readonly optionErrors: GenerationErrors },
  name: OptionName,
  text: string,
) {
  return {
    texts: { ...texts, [name]: text },
    optionErrors: { ...optionErrors, [name]: undefined },
    error: undefined,
  };
}

/** The longest text that an error repeats. */
const MAX_QUOTED_LENGTH = 100;

/**
 * Checks the typed texts, so a mistake is shown at its field without a request. The worker checks what depends on the
 * model, such as the context length.
 */
export function parseGeneration(texts: GenerationTexts): ParsedGeneration {
  const values: Partial<Record<OptionName, unknown>> = {};
  const errors: Partial<Record<OptionName, string>> = {};
  for (const { name, option } of GENERATION_FIELDS) {
    const text = texts[name] ?? '';
    const typed = option.type === 'strings' ? text.replaceAll(String.raw`\n`, '\n') : text.trim();
    if (typed === '') continue;
    try {
      const value = option.type === 'response-format' ? formatOf(text) : optionFromText(option, typed);
      values[name] = checkOf(option)(name, typeof value === 'number' ? parseNumber(typed) : value);
    } catch (error) {
      if (option.type === 'response-format' && error instanceof Error) {
        errors[name] = error.message;
        continue;
      }
      const got = text.length > MAX_QUOTED_LENGTH ? `${text.length} characters` : `“${text}”`;
      errors[name] = `Expected ${expectedText(option)}, got ${got}.`;
    }
  }
  // The page shows how likely each choice is.
  if (hasChoices(texts.responseFormat)) values.logprobs ??= 0;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each value has passed the check of its option
  return { options: values as GenerationOptions, errors };
}

/** The value in force while the field is empty. */
export function placeholderOf(
  { name, option }: GenerationField,
  modelDefaults: ModelInfo['generationDefaults'] | undefined,
): string {
  if (typeof option.generationConfig === 'string' && !modelDefaults) return 'default';
  const defaults: Readonly<Partial<Record<OptionName, unknown>>> = modelDefaults ?? {};
  return defaultText(defaults[name] ?? option.default);
}
