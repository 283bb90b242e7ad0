import { MAX_CHOICES, type GenerationOptions } from '../../worker/protocol/protocol.ts';

/** The options that the form has; a program may ask for more. */
export const GENERATION_FIELD_NAMES = [
  'maxNewTokens',
  'temperature',
  'topK',
  'topP',
  'minP',
  'repetitionPenalty',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
  'n',
  'priority',
  'timeoutMs',
  'logprobs',
  'logitBias',
  'stop',
  'echo',
] as const satisfies readonly (keyof GenerationOptions)[];

export type GenerationField = (typeof GENERATION_FIELD_NAMES)[number];

/** The options that are one number. */
export type NumberOption = Exclude<GenerationField, 'echo' | 'logitBias' | 'stop'>;

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
const MAX_LOGPROBS = 20;

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
  logprobs: '',
  logitBias: '',
  stop: '',
  echo: '',
};

const MAX_STOP_LENGTH = 256;

/** What stands for a mark at `echo`. */
export const ECHO = 'true';

export const GENERATION_FIELDS: readonly FieldRule[] = [
  {
    name: 'maxNewTokens',
    label: 'Max new tokens',
    hint: 'The longest continuation; it may end earlier.',
    expected: 'an integer >= 1',
    accepts: (value) => Number.isInteger(value) && value >= 1,
  },
  {
    name: 'temperature',
    label: 'Temperature',
    hint: '0 always takes the likeliest token; more is more varied.',
    expected: 'a finite number >= 0',
    accepts: (value) => Number.isFinite(value) && value >= 0,
  },
  {
    name: 'topK',
    label: 'Top-k',
    hint: 'Draws from the k likeliest tokens; 0 = all.',
    expected: 'an integer >= 0',
    accepts: (value) => Number.isInteger(value) && value >= 0,
  },
  {
    name: 'topP',
    label: 'Top-p',
    hint: 'Draws from the likeliest tokens that reach this share; 1 = all.',
    expected: 'a number above 0 and up to 1',
    accepts: (value) => value > 0 && value <= 1,
  },
  {
    name: 'minP',
    label: 'Min-p',
    hint: 'Drops what is less likely than this share of the likeliest; 0 = off.',
    expected: 'a number from 0 to 1',
    accepts: (value) => value >= 0 && value <= 1,
  },
  {
    name: 'repetitionPenalty',
    label: 'Repetition penalty',
    hint: 'Above 1, what the text has becomes less likely; 1 = off.',
    expected: 'a number from 0.01 to 100',
    accepts: (value) => value >= 0.01 && value <= 100,
  },
  {
    name: 'presencePenalty',
    label: 'Presence penalty',
    hint: 'Taken from tokens that were generated; -2 to 2, 0 = off.',
    expected: 'a number from -2 to 2',
    accepts: (value) => value >= -2 && value <= 2,
  },
  {
    name: 'frequencyPenalty',
    label: 'Frequency penalty',
    hint: 'As that, for each time that they were; -2 to 2, 0 = off.',
    expected: 'a number from -2 to 2',
    accepts: (value) => value >= -2 && value <= 2,
  },
  {
    name: 'seed',
    label: 'Seed',
    hint: 'Same seed, prompt and options: same text.',
    expected: `an integer from 0 to ${MAX_SEED}`,
    accepts: (value) => Number.isInteger(value) && value >= 0 && value <= MAX_SEED,
    whenEmpty: 'random',
  },
  {
    name: 'n',
    label: 'Continuations',
    hint: 'Different ones of the same prompt, side by side.',
    expected: `an integer from 1 to ${MAX_CHOICES}`,
    accepts: (value) => Number.isInteger(value) && value >= 1 && value <= MAX_CHOICES,
  },
  {
    name: 'priority',
    label: 'Priority',
    hint: 'Of what waits, lower starts first; -100 to 100.',
    expected: `an integer from -${MAX_PRIORITY} to ${MAX_PRIORITY}`,
    accepts: (value) => Number.isInteger(value) && Math.abs(value) <= MAX_PRIORITY,
    whenEmpty: '0',
  },
  {
    name: 'timeoutMs',
    label: 'Timeout',
    hint: 'Fails the request so many ms after sending.',
    expected: 'a finite number above 0',
    accepts: (value) => Number.isFinite(value) && value > 0,
    whenEmpty: 'none',
  },
  {
    name: 'logprobs',
    label: 'Logprobs',
    hint: 'How likely each token was, with so many of the likeliest in its place; up to 20.',
    expected: `an integer from 0 to ${MAX_LOGPROBS}`,
    accepts: (value) => Number.isInteger(value) && value >= 0 && value <= MAX_LOGPROBS,
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
  const options: { -readonly [Field in NumberOption]?: number } & {
    logitBias?: Record<string, number>;
    stop?: string;
    echo?: boolean;
  } = {};
  const errors: { -readonly [Field in GenerationField]?: string } = {};
  for (const { name, expected, accepts } of GENERATION_FIELDS) {
    const text = texts[name].trim();
    if (text === '') continue;
    const value = Number(text);
    if (accepts(value)) options[name] = value;
    else errors[name] = `Expected ${name} to be ${expected}, got “${text}”.`;
  }
  const logitBias = parseLogitBias(texts.logitBias);
  if (!logitBias)
    errors.logitBias = `Expected logitBias to be ${LOGIT_BIAS_SHAPE}, got “${texts.logitBias}”.`;
  else if (Object.keys(logitBias).length > 0) options.logitBias = logitBias;
  const stop = texts.stop.replaceAll(String.raw`\n`, '\n');
  if (stop.length > MAX_STOP_LENGTH)
    errors.stop = `Expected stop to be at most ${MAX_STOP_LENGTH} characters, got ${stop.length}.`;
  else if (stop !== '') options.stop = stop;
  if (texts.echo === ECHO) options.echo = true;
  else if (texts.echo !== '') errors.echo = `Expected echo to be ${ECHO} or empty, got “${texts.echo}”.`;
  return { options, errors };
}

const LOGIT_BIAS_SHAPE = 'token ids with a number from -100 to 100 each, as in “50256: -100, 11: 2.5”';

/** Undefined where it is not of that shape. */
function parseLogitBias(text: string): Record<string, number> | undefined {
  const biases: Record<string, number> = {};
  for (const entry of text.split(',')) {
    if (entry.trim() === '') continue;
    const match = /^\s*(\d+)\s*:\s*(-?\d+(?:\.\d+)?)\s*$/.exec(entry);
    const [, tokenId = '', bias = ''] = match ?? [];
    if (!match || Math.abs(Number(bias)) > 100) return undefined;
    biases[tokenId] = Number(bias);
  }
  return biases;
}
