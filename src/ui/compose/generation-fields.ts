import { MAX_CHOICES, type GenerationOptions } from '../../worker/protocol.ts';

/** The options that are one number and change the text. */
export type NumberOption = Exclude<keyof GenerationOptions, 'echo' | 'logitBias' | 'logprobs' | 'stop'>;

export type GenerationField = NumberOption | 'stop';

/** What is typed, by field; an empty text leaves the option out, so that its default applies. */
export type GenerationTexts = Readonly<Record<GenerationField, string>>;

export type GenerationErrors = Readonly<Partial<Record<GenerationField, string | undefined>>>;

interface FieldRule {
  readonly name: NumberOption;
  readonly label: string;
  readonly hint: string;
  readonly expected: string;
  readonly accepts: (value: number) => boolean;
  /** What leaving it empty means, where the model has no default for it. */
  readonly whenEmpty?: string;
}

const MAX_SEED = 2 ** 32 - 1;
const MAX_PRIORITY = 100;

export const EMPTY_GENERATION_TEXTS: GenerationTexts = {
  maxNewTokens: '',
  temperature: '',
  topK: '',
  topP: '',
  minP: '',
  repetitionPenalty: '',
  presencePenalty: '',
  frequencyPenalty: '',
  seed: '',
  n: '',
  priority: '',
  timeoutMs: '',
  stop: '',
};

const MAX_STOP_LENGTH = 256;

export const GENERATION_FIELDS: readonly FieldRule[] = [
  {
    name: 'maxNewTokens',
    label: 'Max new tokens',
    hint: 'at most, per request',
    expected: 'an integer >= 1',
    accepts: (value) => Number.isInteger(value) && value >= 1,
  },
  {
    name: 'temperature',
    label: 'Temperature',
    hint: '0 = greedy',
    expected: 'a finite number >= 0',
    accepts: (value) => Number.isFinite(value) && value >= 0,
  },
  {
    name: 'topK',
    label: 'Top-k',
    hint: '0 = all tokens',
    expected: 'an integer >= 0',
    accepts: (value) => Number.isInteger(value) && value >= 0,
  },
  {
    name: 'topP',
    label: 'Top-p',
    hint: 'above 0, up to 1',
    expected: 'a number above 0 and up to 1',
    accepts: (value) => value > 0 && value <= 1,
  },
  {
    name: 'minP',
    label: 'Min-p',
    hint: '0 = all tokens',
    expected: 'a number from 0 to 1',
    accepts: (value) => value >= 0 && value <= 1,
  },
  {
    name: 'repetitionPenalty',
    label: 'Repetition penalty',
    hint: '1 = off',
    expected: 'a number from 0.01 to 100',
    accepts: (value) => value >= 0.01 && value <= 100,
  },
  {
    name: 'presencePenalty',
    label: 'Presence penalty',
    hint: '-2 to 2, 0 = off',
    expected: 'a number from -2 to 2',
    accepts: (value) => value >= -2 && value <= 2,
  },
  {
    name: 'frequencyPenalty',
    label: 'Frequency penalty',
    hint: '-2 to 2, 0 = off',
    expected: 'a number from -2 to 2',
    accepts: (value) => value >= -2 && value <= 2,
  },
  {
    name: 'seed',
    label: 'Seed',
    hint: 'same seed, same text',
    expected: `an integer from 0 to ${MAX_SEED}`,
    accepts: (value) => Number.isInteger(value) && value >= 0 && value <= MAX_SEED,
    whenEmpty: 'random',
  },
  {
    name: 'n',
    label: 'Continuations',
    hint: 'side by side, per request',
    expected: `an integer from 1 to ${MAX_CHOICES}`,
    accepts: (value) => Number.isInteger(value) && value >= 1 && value <= MAX_CHOICES,
  },
  {
    name: 'priority',
    label: 'Priority',
    hint: 'lower starts first',
    expected: `an integer from -${MAX_PRIORITY} to ${MAX_PRIORITY}`,
    accepts: (value) => Number.isInteger(value) && Math.abs(value) <= MAX_PRIORITY,
    whenEmpty: '0',
  },
  {
    name: 'timeoutMs',
    label: 'Timeout',
    hint: 'ms from sending it on',
    expected: 'a finite number above 0',
    accepts: (value) => Number.isFinite(value) && value > 0,
    whenEmpty: 'none',
  },
];

interface ParsedGeneration {
  readonly options: GenerationOptions;
  readonly errors: GenerationErrors;
}

/**
 * Checks what is typed, so that a slip is shown at its field and costs no request. What depends on the model
 * (the context length) is the worker's to judge.
 */
export function parseGeneration(texts: GenerationTexts): ParsedGeneration {
  const options: { -readonly [Field in NumberOption]?: number } & { stop?: string } = {};
  const errors: { -readonly [Field in GenerationField]?: string } = {};
  for (const { name, expected, accepts } of GENERATION_FIELDS) {
    const text = texts[name].trim();
    if (text === '') continue;
    const value = Number(text);
    if (accepts(value)) options[name] = value;
    else errors[name] = `Expected ${name} to be ${expected}, got “${text}”.`;
  }
  const stop = texts.stop.replaceAll(String.raw`\n`, '\n');
  if (stop.length > MAX_STOP_LENGTH)
    errors.stop = `Expected stop to be at most ${MAX_STOP_LENGTH} characters, got ${stop.length}.`;
  else if (stop !== '') options.stop = stop;
  return { options, errors };
}
