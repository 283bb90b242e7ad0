import { GENERATION_FIELDS, type GenerationTexts } from '../../state/generation-fields.ts';

/** Without those that a row of a job has no place for, and without its shape, which has a field of its own. */
export const JOB_FIELDS = GENERATION_FIELDS.filter(
  ({ name }) => !['n', 'logprobs', 'responseFormat'].includes(name),
);

/** Room for the JSON of an answer. */
export const MAX_NEW_TOKENS = 256;

/** The values in force while the fields are empty, where they aren’t the model’s own. */
export const JOB_DEFAULTS: GenerationTexts = { maxNewTokens: String(MAX_NEW_TOKENS) };
