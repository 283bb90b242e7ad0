import * as v from 'valibot';

import { parseNumber } from '../../parts/format.ts';
import { MAX_REQUESTS, type Arrivals, type Lengths, type Scenario } from './scenario.ts';

export const MODES = [
  ['run', 'Measure'],
  ['sweep', 'Sweep'],
  ['compare', 'Compare'],
] as const;
export type Mode = (typeof MODES)[number][0];

export const ARRIVALS = [
  ['poisson', 'Poisson'],
  ['closed-loop', 'Closed loop'],
  ['burst', 'Bursts'],
  ['ramp', 'Ramp'],
  ['replay', 'Replay of a trace'],
] as const;
type ArrivalsType = (typeof ARRIVALS)[number][0];

export const LENGTH_TYPES = [
  ['uniform', 'uniform'],
  ['long-tail', 'long-tailed'],
  ['fixed', 'all alike'],
] as const;

interface NumberRule {
  readonly group: 'Arrivals' | 'Prompt length' | 'Output length' | 'Measure';
  readonly label: string;
  readonly unit?: string;
  readonly hint: string;
  readonly min: number;
  readonly max: number;
  readonly isInteger?: boolean;
  /** The arrivals that use the field. Left out: all of them. */
  readonly arrivals?: readonly ArrivalsType[];
}

/** The text of a number as typed, with its default. */
function numberField(initial: string, rule: NumberRule) {
  return v.optional(v.pipe(v.string(), v.maxLength(40), v.metadata({ ...rule })), initial);
}

/** A replayed trace has its own requests. */
const DRAWN: readonly ArrivalsType[] = ['poisson', 'closed-loop', 'burst', 'ramp'];

const rate = { group: 'Arrivals', unit: 'requests/s', min: 0.01, max: 1000 } as const;
const arriving = { group: 'Arrivals', min: 1, isInteger: true } as const;
const length = { hint: '', min: 1, max: 1000, isInteger: true, arrivals: DRAWN };
const promptLength = { ...length, group: 'Prompt length', unit: 'words' } as const;
const outputLength = { ...length, group: 'Output length', unit: 'tokens' } as const;

const numbersSchema = v.object({
  rate: numberField('8', {
    ...rate,
    label: 'Rate',
    hint: 'On average',
    arrivals: ['poisson'],
  }),
  // Empty: twice the max batch size in force.
  numUsers: numberField('', {
    ...arriving,
    label: 'Users',
    unit: 'users',
    hint: 'One request each',
    max: 256,
    arrivals: ['closed-loop'],
  }),
  burstSize: numberField('8', {
    ...arriving,
    label: 'Burst size',
    unit: 'requests',
    hint: 'Arrive together',
    max: 500,
    arrivals: ['burst'],
  }),
  everySeconds: numberField('2', {
    group: 'Arrivals',
    label: 'Every',
    unit: 's',
    hint: 'Between two bursts',
    min: 0.1,
    max: 600,
    arrivals: ['burst'],
  }),
  fromRate: numberField('1', {
    ...rate,
    label: 'From',
    hint: 'At the start',
    min: 0,
    arrivals: ['ramp'],
  }),
  toRate: numberField('16', { ...rate, label: 'To', hint: 'At the end', arrivals: ['ramp'] }),
  durationSeconds: numberField('5', {
    group: 'Arrivals',
    label: 'Duration',
    unit: 's',
    hint: 'New requests arrive',
    min: 0.5,
    max: 600,
    arrivals: DRAWN,
  }),
  promptMin: numberField('3', { ...promptLength, label: 'At least' }),
  promptMax: numberField('12', { ...promptLength, label: 'At most' }),
  outputMin: numberField('8', { ...outputLength, label: 'At least' }),
  outputMax: numberField('64', { ...outputLength, label: 'At most' }),
  latencyLimitMs: numberField('2000', {
    group: 'Measure',
    label: 'Latency limit',
    unit: 'ms',
    hint: 'Slower is not goodput',
    min: 1,
    max: 3_600_000,
  }),
  seed: numberField('1', {
    group: 'Measure',
    label: 'Seed',
    hint: 'Same seed, same load',
    min: 0,
    max: 2 ** 32 - 1,
    isInteger: true,
  }),
});

const lengthTypeSchema = v.optional(v.picklist(LENGTH_TYPES.map(([type]) => type)), 'uniform');

const formSchema = v.object({
  mode: v.optional(v.picklist(MODES.map(([mode]) => mode)), 'compare'),
  // Batching helps most where requests wait.
  arrivals: v.optional(v.picklist(ARRIVALS.map(([type]) => type)), 'closed-loop'),
  promptLengths: lengthTypeSchema,
  outputLengths: lengthTypeSchema,
  ...numbersSchema.entries,
});

export type LoadForm = Readonly<v.InferOutput<typeof formSchema>>;

const NUMBER_FIELDS = v.keyof(numbersSchema).options;
export type NumberFieldName = (typeof NUMBER_FIELDS)[number];

export type LoadErrors = Readonly<Partial<Record<NumberFieldName, string>>>;

export const DEFAULT_LOAD_FORM: LoadForm = v.parse(formSchema, {});

export function ruleOf(name: NumberFieldName): NumberRule {
  return v.getMetadata(numbersSchema.entries[name].wrapped);
}

/** The fields that the form shows, in its order. A fixed length is one field. @param generates Whether requests have an output. */
export function shownFields({ arrivals, promptLengths, outputLengths }: LoadForm, generates: boolean) {
  return NUMBER_FIELDS.filter((name) => {
    if (!generates && ruleOf(name).group === 'Output length') return false;
    if (name === 'promptMin' && promptLengths === 'fixed') return false;
    if (name === 'outputMin' && outputLengths === 'fixed') return false;
    return ruleOf(name).arrivals?.includes(arrivals) ?? true;
  });
}

/** Checks the fields that the form shows. Without a number of users, a closed loop has twice the max batch size. */
export function parseLoadForm(typed: LoadForm, maxBatchSize: number, generates: boolean) {
  const numUsers = typed.numUsers.trim() || String(defaultUsers(maxBatchSize));
  const form = { ...typed, numUsers };
  const shown = new Set(shownFields(form, generates));
  const errors: { -readonly [Field in NumberFieldName]?: string } = {};
  for (const name of shown) {
    const { min, max, isInteger = false } = ruleOf(name);
    const text = form[name].trim();
    const value = parseNumber(text);
    const isRight = value >= min && value <= max && (!isInteger || Number.isInteger(value));
    const expected = `${isInteger ? 'an integer' : 'a number'} from ${min} to ${max}`;
    if (!isRight) errors[name] = `Expected ${name} to be ${expected}, got “${text}”.`;
  }
  const numbers = (name: NumberFieldName): number => Number(form[name]);
  const lengths = (type: Lengths['type'], min: NumberFieldName, max: NumberFieldName): Lengths => {
    if (shown.has(min) && numbers(min) > numbers(max))
      errors[max] ??= `Expected ${max} to be at least ${min}, got “${form[max]}”.`;
    return { type, min: numbers(type === 'fixed' ? max : min), max: numbers(max) };
  };
  const promptWords = lengths(form.promptLengths, 'promptMin', 'promptMax');
  const outputTokens = lengths(form.outputLengths, 'outputMin', 'outputMax');
  const durationSeconds = numbers('durationSeconds');
  const [arrivals, meanRate] = arrivalsOf(form, numbers);
  const numExpected = shown.has('durationSeconds') ? meanRate * durationSeconds : 0;
  if (numExpected > MAX_REQUESTS && Object.keys(errors).length === 0) {
    errors.durationSeconds = `Expected at most ${MAX_REQUESTS} requests, got about ${Math.round(numExpected)}: shorten it or lower the rate.`;
  }
  // With errors, the rest is meaningless.
  return {
    errors: errors satisfies LoadErrors,
    latencyLimitMs: numbers('latencyLimitMs'),
    scenario: {
      arrivals,
      durationSeconds,
      seed: numbers('seed'),
      promptWords,
      outputTokens,
    } satisfies Scenario,
  };
}

/** Twice the batch size: one batch runs while the next one waits. */
export function defaultUsers(maxBatchSize: number): number {
  return Math.min(2 * maxBatchSize, ruleOf('numUsers').max);
}

/** The arrivals, and their requests per second on average: 0 for a closed loop, which waits for its own ends. */
function arrivalsOf(
  form: LoadForm,
  numbers: (name: NumberFieldName) => number,
): readonly [Arrivals, meanRate: number] {
  switch (form.arrivals) {
    case 'closed-loop':
      return [{ type: 'closed-loop', numUsers: numbers('numUsers') }, 0];
    case 'burst': {
      const [burstSize, everySeconds] = [numbers('burstSize'), numbers('everySeconds')];
      return [{ type: 'burst', burstSize, everySeconds }, burstSize / everySeconds];
    }
    case 'ramp': {
      const [fromPerSecond, toPerSecond] = [numbers('fromRate'), numbers('toRate')];
      return [{ type: 'ramp', fromPerSecond, toPerSecond }, (fromPerSecond + toPerSecond) / 2];
    }
    // A replayed trace brings its own arrivals; a sweep of it starts at the rate.
    case 'replay':
    case 'poisson':
      return [{ type: 'poisson', ratePerSecond: numbers('rate') }, numbers('rate')];
  }
}

/** The form that a link describes, with defaults for the rest. A malformed link gives the defaults. */
export function readLoadForm(json: string | undefined): LoadForm {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), formSchema), json ?? '{}');
  return result.success ? result.output : DEFAULT_LOAD_FORM;
}

/** The inverse of `readLoadForm`, without the fields at their defaults. */
export function writeLoadForm(form: LoadForm): string {
  const defaults: Readonly<Record<string, string>> = DEFAULT_LOAD_FORM;
  return JSON.stringify(
    Object.fromEntries(Object.entries(form).filter(([name, value]) => defaults[name] !== value)),
  );
}
