import { checkPrompt, readMessages, type Prompt } from './read-prompt.ts';
import type { Sampling } from './sampling.ts';
import { readTools, type SessionTool } from './tools.ts';
import { MESSAGE_TYPES, SAMPLING_MODES, type CreateMonitor, type LanguageModelExpected } from './types.ts';
import { toDictionary, toEnum, toSequence, toSignal, toText } from './web-idl.ts';

/** Options of a session that also decide whether it can exist. */
export interface CoreSettings {
  readonly sampling: Sampling;
  readonly tools: readonly SessionTool[];
  /** Why the session cannot exist; undefined if it can. */
  readonly refusal: string | undefined;
}

export interface CreateSettings extends CoreSettings {
  readonly signal: AbortSignal | undefined;
  readonly monitor: ((monitor: CreateMonitor) => unknown) | undefined;
  readonly initialPrompts: Prompt['messages'];
}

type Expected = Pick<LanguageModelExpected, 'type'> & { readonly languages: readonly string[] };

/**
 * @param isLegacy Whether `topK` and `temperature` count.
 * @throws TypeError, or RangeError for an invalid language tag.
 */
export function readCoreOptions(options: unknown, isLegacy: boolean): CoreSettings {
  const { expectedInputs, expectedOutputs, samplingMode, temperature, tools, topK } = toDictionary(
    'options',
    options,
  );
  const expected = [
    ...readExpected('expectedInputs', expectedInputs),
    ...readExpected('expectedOutputs', expectedOutputs),
  ];
  const parameters = isLegacy
    ? { temperature: readNumber('temperature', temperature), topK: readNumber('topK', topK) }
    : { temperature: undefined, topK: undefined };
  return {
    sampling: readSampling(samplingMode, parameters),
    tools: readTools(tools),
    refusal: refusalOf(expected),
  };
}

/** @throws TypeError, RangeError, or a DOMException named SyntaxError or NotSupportedError. */
export function readCreateOptions(options: unknown, isLegacy: boolean): CreateSettings {
  const { initialPrompts, monitor, signal } = toDictionary('options', options);
  const core = readCoreOptions(options, isLegacy);
  if (core.sampling.mode === null) checkRange(core.sampling);
  const input = initialPrompts === undefined ? [] : readMessages('initialPrompts', initialPrompts);
  const { messages, prefix } = checkPrompt(input, false);
  if (prefix !== undefined) throw new DOMException('An initial prompt has no `prefix`.', 'SyntaxError');
  return {
    ...core,
    signal: toSignal(signal),
    monitor: readMonitor(monitor),
    initialPrompts: messages,
  };
}

/** @throws TypeError. */
export function readMonitor(value: unknown): CreateSettings['monitor'] {
  if (value === undefined || isMonitorCallback(value)) return value;
  throw new TypeError('`monitor` has to be a function.');
}

function isMonitorCallback(value: unknown): value is (monitor: CreateMonitor) => unknown {
  return typeof value === 'function';
}

function readExpected(name: string, value: unknown): readonly Expected[] {
  if (value === undefined) return [];
  return toSequence(name, value).map((entry, index) => {
    const { languages, type } = toDictionary(`${name}[${index}]`, entry);
    const tags =
      languages === undefined ? [] : toSequence(`${name}[${index}].languages`, languages).map(toText);
    return {
      languages: Intl.getCanonicalLocales(tags),
      type: toEnum(`${name}[${index}].type`, type, MESSAGE_TYPES),
    };
  });
}

/** A model doesn't say which languages it speaks, so all languages that the browser knows pass. */
function refusalOf(expected: readonly Expected[]): string | undefined {
  const foreign = expected.find(({ type }) => type !== 'text');
  if (foreign) return `Content of the type ${foreign.type} isn't supported: expect text alone.`;
  const languages = expected.flatMap((entry) => entry.languages);
  const known = new Set(Intl.DateTimeFormat.supportedLocalesOf(languages));
  const unknown = languages.find((language) => !known.has(language));
  return unknown && `No language is known by the tag ${unknown}: leave it out of \`languages\`.`;
}

function readSampling(
  samplingMode: unknown,
  parameters: { readonly temperature: number | undefined; readonly topK: number | undefined },
): Sampling {
  const hasParameters = parameters.temperature !== undefined || parameters.topK !== undefined;
  if (samplingMode === undefined) return hasParameters ? { mode: null, ...parameters } : { mode: 'balanced' };
  const mode = toEnum('samplingMode', samplingMode, SAMPLING_MODES);
  if (hasParameters) throw new TypeError('Pass `samplingMode`, or `temperature` and `topK`, but not both.');
  return { mode };
}

function readNumber(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (Number.isNaN(number)) throw new TypeError(`\`${name}\` has to be a number, got ${toText(value)}.`);
  return number;
}

function checkRange({ temperature = 0, topK = 1 }: Extract<Sampling, { mode: null }>): void {
  if (temperature < 0) throw new RangeError(`\`temperature\` has to be 0 or more, got ${temperature}.`);
  if (topK < 1) throw new RangeError(`\`topK\` has to be 1 or more, got ${topK}.`);
}
