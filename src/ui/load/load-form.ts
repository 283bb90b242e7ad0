import * as v from 'valibot';

import { parseNumber } from '../format.ts';
import type { Arrivals, Lengths, Scenario } from './scenario.ts';
import { MAX_REQUESTS } from './scenario.ts';

export const MODES = ['run', 'sweep', 'compare', 'suggest'] as const;
export type Mode = (typeof MODES)[number];

export const ARRIVALS = ['poisson', 'closed-loop', 'burst', 'ramp', 'replay'] as const;
type ArrivalsType = (typeof ARRIVALS)[number];

export const LENGTH_TYPES = ['uniform', 'long-tail', 'fixed'] as const;

/** The fields that hold a number, as typed. */
export const NUMBER_FIELDS = [
  'rate',
  'numUsers',
  'burstSize',
  'everySeconds',
  'fromRate',
  'toRate',
  'durationSeconds',
  'promptMin',
  'promptMax',
  'outputMin',
  'outputMax',
  'seed',
  'latencyLimitMs',
] as const;
export type NumberFieldName = (typeof NUMBER_FIELDS)[number];

export type LoadForm = Readonly<Record<NumberFieldName, string>> & {
  readonly mode: Mode;
  readonly arrivals: ArrivalsType;
  readonly promptLengths: Lengths['type'];
  readonly outputLengths: Lengths['type'];
};

export type LoadErrors = Readonly<Partial<Record<NumberFieldName, string>>>;

export const DEFAULT_LOAD_FORM: LoadForm = {
  mode: 'compare',
  // Batching helps most where requests wait.
  arrivals: 'closed-loop',
  rate: '8',
  // Twice the max batch size in force.
  numUsers: '',
  burstSize: '8',
  everySeconds: '2',
  fromRate: '1',
  toRate: '16',
  durationSeconds: '5',
  promptLengths: 'uniform',
  promptMin: '3',
  promptMax: '12',
  outputLengths: 'uniform',
  outputMin: '8',
  outputMax: '64',
  seed: '1',
  latencyLimitMs: '2000',
};

interface NumberRule {
  readonly label: string;
  readonly unit: string;
  readonly hint: string;
  readonly min: number;
  readonly max: number;
  readonly isInteger: boolean;
  /** The arrivals that use the field. Left out: all of them. */
  readonly arrivals?: ArrivalsType;
}

const rate = { unit: 'requests/s', min: 0.01, max: 1000, isInteger: false };

export const NUMBER_RULES: Readonly<Record<NumberFieldName, NumberRule>> = {
  rate: { ...rate, label: 'Rate', hint: 'On average. The pauses are exponential.', arrivals: 'poisson' },
  numUsers: {
    label: 'Users',
    unit: 'users',
    hint: 'Each sends its next request when its last one ends. Empty: twice the max batch size.',
    min: 1,
    max: 256,
    isInteger: true,
    arrivals: 'closed-loop',
  },
  burstSize: {
    label: 'Burst size',
    unit: 'requests',
    hint: 'Requests that arrive together.',
    min: 1,
    max: 500,
    isInteger: true,
    arrivals: 'burst',
  },
  everySeconds: {
    label: 'Every',
    unit: 's',
    hint: 'From one burst to the next.',
    min: 0.1,
    max: 600,
    isInteger: false,
    arrivals: 'burst',
  },
  fromRate: { ...rate, label: 'From', hint: 'The rate at the start.', min: 0, arrivals: 'ramp' },
  toRate: { ...rate, label: 'To', hint: 'The rate at the end.', arrivals: 'ramp' },
  durationSeconds: {
    label: 'Duration',
    unit: 's',
    hint: 'New requests arrive for this long.',
    min: 0.5,
    max: 600,
    isInteger: false,
  },
  promptMin: { label: 'At least', unit: 'words', hint: '', min: 1, max: 1000, isInteger: true },
  promptMax: { label: 'At most', unit: 'words', hint: '', min: 1, max: 1000, isInteger: true },
  outputMin: { label: 'At least', unit: 'tokens', hint: '', min: 1, max: 1000, isInteger: true },
  outputMax: { label: 'At most', unit: 'tokens', hint: '', min: 1, max: 1000, isInteger: true },
  seed: {
    label: 'Seed',
    unit: '',
    hint: 'The same seed sends the same requests.',
    min: 0,
    max: 2 ** 32 - 1,
    isInteger: true,
  },
  latencyLimitMs: {
    label: 'Latency limit',
    unit: 'ms',
    hint: 'Slower requests don’t count as goodput.',
    min: 1,
    max: 3_600_000,
    isInteger: false,
  },
};

export interface ParsedLoad {
  readonly errors: LoadErrors;
  /** Meaningless where `errors` has any. */
  readonly scenario: Scenario;
  readonly latencyLimitMs: number;
}

/** Checks the fields that the form shows. Without a number of users, a closed loop has twice the max batch size. */
export function parseLoadForm(typed: LoadForm, maxBatchSize: number): ParsedLoad {
  const form = withUsers(typed, maxBatchSize);
  const errors: { -readonly [Field in NumberFieldName]?: string } = {};
  for (const name of NUMBER_FIELDS) {
    if (!hasMeaning(name, form)) continue;
    const { min, max, isInteger } = NUMBER_RULES[name];
    const text = form[name].trim();
    const value = parseNumber(text);
    const isRight = value >= min && value <= max && (!isInteger || Number.isInteger(value));
    const expected = `${isInteger ? 'an integer' : 'a number'} from ${min} to ${max}`;
    if (!isRight) errors[name] = `Expected ${name} to be ${expected}, got “${text}”.`;
  }
  const numbers = (name: NumberFieldName): number => Number(form[name]);
  for (const [min, max] of [
    ['promptMin', 'promptMax'],
    ['outputMin', 'outputMax'],
  ] as const) {
    if (hasMeaning(min, form) && numbers(min) > numbers(max))
      errors[max] ??= `Expected ${max} to be at least ${min}, got “${form[max]}”.`;
  }
  const lengths = (type: Lengths['type'], min: NumberFieldName, max: NumberFieldName): Lengths => ({
    type,
    min: numbers(type === 'fixed' ? max : min),
    max: numbers(max),
  });
  const arrivals = arrivalsOf(form, numbers);
  const durationSeconds = numbers('durationSeconds');
  const numExpected = hasMeaning('durationSeconds', form) ? meanRateOf(arrivals) * durationSeconds : 0;
  if (numExpected > MAX_REQUESTS && Object.keys(errors).length === 0) {
    errors.durationSeconds = `Expected at most ${MAX_REQUESTS} requests, got about ${Math.round(numExpected)}: shorten it or lower the rate.`;
  }
  return {
    errors,
    latencyLimitMs: numbers('latencyLimitMs'),
    scenario: {
      arrivals,
      durationSeconds,
      seed: numbers('seed'),
      promptWords: lengths(form.promptLengths, 'promptMin', 'promptMax'),
      outputTokens: lengths(form.outputLengths, 'outputMin', 'outputMax'),
    },
  };
}

/** Twice the batch size: one batch runs while the next one waits. */
export function defaultUsers(maxBatchSize: number): number {
  return Math.min(2 * maxBatchSize, NUMBER_RULES.numUsers.max);
}

function withUsers(form: LoadForm, maxBatchSize: number): LoadForm {
  return form.numUsers.trim() === '' ? { ...form, numUsers: String(defaultUsers(maxBatchSize)) } : form;
}

/** Unused by a replayed trace, which has its own requests. */
const DRAWING_FIELDS: ReadonlySet<NumberFieldName> = new Set([
  'durationSeconds',
  'promptMin',
  'promptMax',
  'outputMin',
  'outputMax',
]);

/** Whether the form uses this field. */
function hasMeaning(name: NumberFieldName, form: LoadForm): boolean {
  const { arrivals } = NUMBER_RULES[name];
  if (arrivals !== undefined) return arrivals === form.arrivals;
  if (form.arrivals === 'replay' && DRAWING_FIELDS.has(name)) return false;
  // A fixed length is one field.
  if (name === 'promptMin') return form.promptLengths !== 'fixed';
  return name !== 'outputMin' || form.outputLengths !== 'fixed';
}

function arrivalsOf(form: LoadForm, numbers: (name: NumberFieldName) => number): Arrivals {
  switch (form.arrivals) {
    case 'closed-loop':
      return { type: 'closed-loop', numUsers: numbers('numUsers') };
    case 'burst':
      return { type: 'burst', burstSize: numbers('burstSize'), everySeconds: numbers('everySeconds') };
    case 'ramp':
      return { type: 'ramp', fromPerSecond: numbers('fromRate'), toPerSecond: numbers('toRate') };
    // A replayed trace brings its own arrivals; a sweep or a search from it starts at the rate.
    case 'replay':
    case 'poisson':
      return { type: 'poisson', ratePerSecond: numbers('rate') };
    default:
      return form.arrivals satisfies never;
  }
}

function meanRateOf(arrivals: Arrivals): number {
  switch (arrivals.type) {
    case 'closed-loop':
      return 0;
    case 'poisson':
      return arrivals.ratePerSecond;
    case 'burst':
      return arrivals.burstSize / arrivals.everySeconds;
    case 'ramp':
      return (arrivals.fromPerSecond + arrivals.toPerSecond) / 2;
    default:
      return arrivals satisfies never;
  }
}

const formSchema = v.object({
  ...v.entriesFromList(NUMBER_FIELDS, v.exactOptional(v.pipe(v.string(), v.maxLength(40)))),
  mode: v.exactOptional(v.picklist(MODES)),
  arrivals: v.exactOptional(v.picklist(ARRIVALS)),
  promptLengths: v.exactOptional(v.picklist(LENGTH_TYPES)),
  outputLengths: v.exactOptional(v.picklist(LENGTH_TYPES)),
});

/** The form that a link describes, with defaults for the rest. A malformed link gives the defaults. */
export function readLoadForm(json: string | undefined): LoadForm {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), formSchema), json ?? '{}');
  return result.success ? { ...DEFAULT_LOAD_FORM, ...result.output } : DEFAULT_LOAD_FORM;
}

/** The inverse of `readLoadForm`, without the fields at their defaults. */
export function writeLoadForm(form: LoadForm): string {
  const defaults: Readonly<Record<string, string>> = DEFAULT_LOAD_FORM;
  return JSON.stringify(
    Object.fromEntries(Object.entries(form).filter(([name, value]) => defaults[name] !== value)),
  );
}
