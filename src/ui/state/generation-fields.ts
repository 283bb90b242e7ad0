import type { StoreApi } from 'zustand/vanilla';

import { formatOf, hasChoices } from './typed-shape.ts';
import {
  checkOf,
  defaultText,
  expectedText,
  OPTION_NAMES,
  optionFromText,
  optionOf,
  type GenerationOption,
  type GenerationOptions,
  type ModelInfo,
  type OptionName,
  type WireError,
} from '../../client/index.ts';

/** The typed texts. An empty text leaves the option out, so its default applies. */
export type GenerationTexts = Readonly<Partial<Record<OptionName, string>>>;

export type GenerationErrors = Readonly<Partial<Record<OptionName, string | undefined>>>;

export interface GenerationField {
  readonly name: OptionName;
  readonly label: string;
  readonly hint: string;
  /** The option with the form's range. */
  readonly option: GenerationOption;
}

export const GENERATION_FIELDS: readonly GenerationField[] = OPTION_NAMES.flatMap((name) => {
  const option = optionOf(name);
  if (!option.form) return [];
  const { label, hint, ...range } = option.form;
  return [{ name, label, hint, option: { ...option, ...range } }];
});

export const GENERATION_FIELD_NAMES = GENERATION_FIELDS.map(({ name }) => name);

export const EMPTY_GENERATION_TEXTS: GenerationTexts = Object.fromEntries(
  GENERATION_FIELD_NAMES.map((name) => [name, '']),
);

/** The typed options with their refusals, and the acts of a form that shows them. */
export interface OptionsForm {
  readonly store: ReadonlyStoreApi<{
    readonly texts: GenerationTexts;
    readonly optionErrors: GenerationErrors;
  }>;
  changeOption(name: OptionName, text: string): void;
  checkOptions(): void;
  resetOptions(): void;
}

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

type ReadonlyStoreApi<View> = Pick<StoreApi<View>, 'getState' | 'getInitialState' | 'subscribe'>;

/** The longest text that an error repeats. */
const MAX_QUOTED_LENGTH = 100;

/**
 * Checks the typed texts, so a mistake is shown at its field without a request. The worker checks what depends on the
 * model, such as the context length.
 */
export function parseGeneration(texts: GenerationTexts): {
  readonly options: GenerationOptions;
  readonly errors: GenerationErrors;
} {
  const values: Partial<Record<OptionName, unknown>> = {};
  const errors: Partial<Record<OptionName, string>> = {};
  for (const { name, option } of GENERATION_FIELDS) {
    const text = texts[name] ?? '';
    const typed = option.type === 'strings' ? text.replaceAll(String.raw`\n`, '\n') : text.trim();
    if (typed === '') continue;
    try {
      const value = option.type === 'response-format' ? formatOf(text) : optionFromText(option, typed);
      values[name] = checkOf(option)(name, value);
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

/** Names the fields, which say the rest; undefined where none is refused. @param place Where the fields are. */
export function errorOfOptions(errors: GenerationErrors, place = ' under Advanced'): WireError | undefined {
  const refused = GENERATION_FIELDS.filter(({ name }) => errors[name] !== undefined);
  if (refused.length === 0) return undefined;
  const labels = refused.map(({ label }) => label).join(', ');
  return { code: 'INVALID_OPTION', message: `Check ${labels}${place}.` };
}

/** Where the worker has refused an option of the form. */
export function errorsOf({ param = '', message }: Partial<WireError> = {}): GenerationErrors {
  const name = GENERATION_FIELD_NAMES.find((field) => param === field || param.startsWith(`${field}.`));
  return name ? { [name]: message } : {};
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
