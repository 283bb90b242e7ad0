import {
  errorOfOptions,
  GENERATION_FIELDS,
  type GenerationErrors,
  type GenerationTexts,
} from '../../state/generation-fields.ts';
import { parseGeneration } from '../../state/typed-options.ts';
import type { GenerationOptions, TabserveStatus, WireError } from '../../../client/index.ts';

/** Without those that a chat has no place for: one answer follows a message, and no table is shown beside it. */
export const CHAT_FIELDS = GENERATION_FIELDS.filter(({ name }) => name !== 'n' && name !== 'logprobs');

/** Options that a column may set for itself. */
export const COLUMN_FIELDS = GENERATION_FIELDS.filter(
  ({ name }) => name === 'temperature' || name === 'seed',
);

/** The temperatures that one question is asked at to compare them. */
export const COMPARED_TEMPERATURES = ['0', '0.7', '1.2'] as const;

const LENGTH_DEFAULT: GenerationTexts = { maxNewTokens: '512' };
/** Greedy chats repeat themselves, and all columns would answer the same. */
const SAMPLED_DEFAULTS: GenerationTexts = { ...LENGTH_DEFAULT, temperature: '0.7', topP: '0.95' };

/** The values in force while the fields are empty, where they aren’t the model’s own. */
export function chatDefaults({ model, backend }: TabserveStatus): GenerationTexts {
  const isGreedy = model?.generationDefaults.temperature === 0 && backend?.name !== 'server';
  return isGreedy ? SAMPLED_DEFAULTS : LENGTH_DEFAULT;
}

interface ChatOptions {
  readonly options: GenerationOptions;
  /** At the fields of all chats. */
  readonly errors: GenerationErrors;
  readonly error: WireError | undefined;
}

/**
 * The options of a column's next answer: its own, else those of all chats, else the defaults. A seed for all chats is the first
 * column's: with one seed for all, columns that ask the same would answer the same.
 *
 * @param index Of the column, from 0.
 */
export function optionsFor(
  texts: GenerationTexts,
  {
    own = {},
    defaults,
    index,
  }: { own?: GenerationTexts | undefined; defaults: GenerationTexts; index: number },
): ChatOptions {
  const shared = parseGeneration(texts);
  const { options: column, errors: columnErrors } = parseGeneration(own);
  const { seed } = shared.options;
  return {
    options: {
      ...parseGeneration(defaults).options,
      ...shared.options,
      ...(seed !== undefined && { seed: seed + index }),
      ...column,
    },
    errors: shared.errors,
    error: errorOfOptions({ ...shared.errors, ...columnErrors }),
  };
}
