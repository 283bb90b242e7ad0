import type { StoreApi } from 'zustand/vanilla';

import {
  OPTION_NAMES,
  optionOf,
  type GenerationOption,
  type GenerationOptions,
  type OptionName,
  type WireError,
} from '../../client/index.ts';

/** The typed texts. An empty text leaves the option out, so its default applies. */
export type GenerationTexts = Readonly<Partial<Record<OptionName, string>>>;

export type GenerationErrors = Readonly<Partial<Record<OptionName, string | undefined>>>;

export interface GenerationField {
  readonly name: OptionName;
  readonly label: string;
  /** The option with the form's range. */
  readonly option: GenerationOption;
}

export const GENERATION_FIELDS: readonly GenerationField[] = OPTION_NAMES.flatMap((name) => {
  const option = optionOf(name);
  if (!option.form) return [];
  const { label, ...range } = option.form;
  return [{ name, label, option: { ...option, ...range } }];
});

export const GENERATION_FIELD_NAMES = GENERATION_FIELDS.map(({ name }) => name);

export const EMPTY_GENERATION_TEXTS: GenerationTexts = Object.fromEntries(
  GENERATION_FIELD_NAMES.map((name) => [name, '']),
);

/** What is typed, read and checked: see `parseGeneration`. */
export interface ParsedGeneration {
  readonly options: GenerationOptions;
  readonly errors: GenerationErrors;
}

export function isUntouched(texts: GenerationTexts): boolean {
  return Object.values(texts).every((text) => text === '');
}

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

type ReadonlyStoreApi<View> = Pick<StoreApi<View>, 'getState' | 'getInitialState' | 'subscribe'>;

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
