import * as v from 'valibot';

import { InvalidOptionError, ResponseFormatUnsupportedError } from '../../batching/base/errors.ts';
import type { GenerationOptions, OptionName } from '../../batching/options/generation-options.ts';
import type { Prompt } from '../chat.ts';
import { record } from '../wire.ts';
import { inputOf } from '../wire-errors.ts';
import { isRecord } from '../../platform/is-record.ts';
import { textOf } from './chat-messages.ts';
import { HttpError } from './http-error.ts';
import { readFields, withoutNulls } from './fields.ts';

// The part of a request's body that the endpoints for text and for chats share.

/** Which usage a stream reports. */
export interface StreamedUsage {
  /** The stream ends with a chunk that has the usage. */
  readonly isIncluded: boolean;
  /** Each chunk has the usage of its choice so far: vLLM's option. */
  readonly isContinuous: boolean;
}

/** A request to any endpoint that generates. */
export interface GenerationRequest extends SharedFields {
  /** All are one turn. */
  readonly prompts: readonly Prompt[];
  readonly options: GenerationOptions;
  /** Whether each choice of the answer has a `prompt_logprobs` field. */
  readonly hasPromptLogprobs: boolean;
  readonly names: PartNames;
  /** The tier in the answer, if the request names one. */
  readonly serviceTier?: string;
}

/** The names of the generator's options in one endpoint. */
export type OptionNames = ReadonlyMap<OptionName, string>;

/** The names of options and of parts of them in a body. `[]` is any index. */
export type PartNames = ReadonlyMap<string, string>;

type Fields = Readonly<Record<string, unknown>>;

interface SharedFields {
  readonly model: string | undefined;
  readonly numChoicesPerPrompt: number;
  readonly isStream: boolean;
  /** Users of one key take turns. */
  readonly user: string | undefined;
  readonly usage: StreamedUsage;
}

/** Fields that an endpoint accepts only with these values, which change nothing. */
export type NeutralValues = Readonly<Record<string, readonly unknown[]>>;

const NEUTRAL_VALUES: NeutralValues = {
  skip_special_tokens: [true],
  // The text has no special tokens to put a space between.
  spaces_between_special_tokens: [true, false],
  use_beam_search: [false],
  length_penalty: [1],
  bad_words: [[]],
  return_token_ids: [false],
  return_tokens_as_token_ids: [false],
};

/** Fields that the bridge reads itself. `store` and `metadata` don't change the answer. Their messages say what is expected. */
const SHARED_FIELDS = v.object({
  model: v.optional(v.string('a text')),
  stream: v.optional(v.boolean('true or false')),
  stream_options: v.optional(record),
  user: v.optional(v.string('a text')),
  store: v.optional(v.boolean('true or false')),
  metadata: v.optional(record),
  n: v.optional(v.number('a number')),
});

/** The fields that one endpoint takes beside the shared ones. */
interface OwnFields {
  readonly names: OptionNames;
  readonly neutral: NeutralValues;
  /** Fields that the endpoint reads itself. */
  readonly others: readonly string[];
  /** Parts of fields that other endpoints have as fields. */
  readonly parts?: readonly string[];
}

/**
 * The fields of a body, without those that are null.
 *
 * @throws HttpError 400 for an unknown field, and for a value of a neutral one that would change the answer.
 */
export function readKnownFields(body: unknown, { names, neutral, others, parts }: OwnFields): Fields {
  const accepted = { ...NEUTRAL_VALUES, ...neutral };
  const shared = Object.keys(SHARED_FIELDS.entries);
  const known = new Set([...others, ...names.values(), ...shared, ...Object.keys(accepted)]);
  const given = withoutNulls(readFields(body));
  checkRemoved(given);
  const fields = readFields(given, [...known], parts);
  checkNeutral(fields, accepted);
  return fields;
}

/** vLLM's older fields, which it has removed. */
const REMOVED = /^guided_(json|regex|choice|grammar)$/;

function checkRemoved(fields: Fields): void {
  for (const name of Object.keys(fields)) {
    const [, field] = REMOVED.exec(name) ?? [];
    if (field === undefined) continue;
    const now = `structured_outputs: {"${field}": …}`;
    throw HttpError.invalid(name, `\`${name}\` is gone, as in vLLM 0.12: pass \`${now}\`.`, 'UNKNOWN_OPTION');
  }
}

/** @throws HttpError 400. */
export function readSharedFields(fields: Fields): SharedFields {
  const { model, n = 1, stream: isStream = false, stream_options, user } = parseFields(SHARED_FIELDS, fields);
  const usage = readStreamOptions(stream_options, isStream);
  return { model, numChoicesPerPrompt: n, isStream, user, usage };
}

/** The message of each part of the schema says what is expected. @throws HttpError 400. */
export function parseFields<Entries extends v.ObjectEntries>(
  schema: v.ObjectSchema<Entries, undefined>,
  fields: Fields,
): v.InferOutput<v.ObjectSchema<Entries, undefined>> {
  const result = v.safeParse(schema, fields, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const param = v.getDotPath(issue)?.replaceAll(/\.(\d+)/g, '[$1]') ?? 'body';
  throw HttpError.expected(param, issue.message.replace(/^Expected /, ''), textOf(issue.input));
}

/** The generator's options among the fields. The worker checks their values. */
export function readOptions(fields: Fields, names: OptionNames): GenerationOptions {
  const options: GenerationOptions = Object.fromEntries(
    [...names]
      .map(([ours, theirs]) => [ours, fields[theirs]] as const)
      .filter(([, value]) => value !== undefined),
  );
  // vLLM also takes -1 for all.
  return options.topK === -1 ? { ...options, topK: 0 } : options;
}

export interface RequestNames {
  /** The field that holds the prompt. */
  readonly input: string;
  /** Whether that is a list of prompts. */
  readonly isList?: boolean;
  readonly names: PartNames;
}

/** Codes of errors about the prompt, as they are sent. */
const CODES_OF_PROMPT: ReadonlyMap<unknown, string> = new Map([
  ...['CHAT_TEMPLATE_FAILED', 'EMPTY_PROMPT', 'NO_CHAT_TEMPLATE', 'TOKEN_WITHOUT_EMBEDDING'].map(
    (code) => [code, code] as const,
  ),
  ['PROMPT_TOO_LONG', 'context_length_exceeded'],
]);

/** The worker's error in the words of the endpoint. */
export function inApiNames(error: unknown, { input, isList = false, names }: RequestNames): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  const { place: index, message } = inputOf(error);
  const field = isList && index !== undefined ? `${input}[${index}]` : input;
  const { code } = error;
  const all: PartNames = new Map([['prompt', field], ...names]);
  const [quoted, place = ''] = /`([^`]+)`/.exec(message) ?? [];
  const theirs = respelled(place, all);
  const promptCode = CODES_OF_PROMPT.get(code);
  if (promptCode !== undefined) {
    const isNamed = quoted !== undefined && theirs !== undefined && message.startsWith(quoted);
    const prefix = field === input ? '' : `\`${field}\`: `;
    const renamed = isNamed ? message.replace(place, () => theirs) : prefix + message;
    return invalid(isNamed ? theirs : field, renamed, promptCode);
  }
  if (code === 'TOOLS_UNSUPPORTED') return HttpError.invalid('tools', message, code);
  if (!(error instanceof InvalidOptionError || error instanceof ResponseFormatUnsupportedError)) return error;
  const { param = place } = error;
  const option = respelled(/^\w+/.exec(param)?.[0] ?? '', all);
  if (option === undefined) return error;
  const renamed = message.replace(place || param, () => theirs ?? place);
  return invalid(option === field ? (theirs ?? field) : option, renamed, error.code);
}

function invalid(param: string, message: string, code: string): HttpError {
  return HttpError.invalid(inSnakeCase(param), inSnakeCase(message), code);
}

/** The part of an option by its name in the body: that of the longest name which begins it. */
function respelled(place: string, names: PartNames): string | undefined {
  const indexes = Array.from(place.matchAll(/\[\d+\]/g), ([index]) => index);
  const fill = (name: string): string =>
    name.split('[]').reduce((start, end, at) => start + (indexes[at - 1] ?? '[]') + end);
  const [longest] = Array.from(names, (pair) => pair.map(fill))
    .filter(([ours = '']) => place.startsWith(ours) && /^(?:$|[.[])/.test(place.slice(ours.length)))
    .toSorted(([a = ''], [b = '']) => b.length - a.length);
  const [ours = '', theirs] = longest ?? [];
  return theirs === undefined ? undefined : theirs + place.slice(ours.length);
}

/** The fields of a message. */
function inSnakeCase(message: string): string {
  return message.replace('.toolCalls', '.tool_calls').replace('.toolCallId', '.tool_call_id');
}

/** @throws HttpError 400 for a field with another value than those that change nothing. */
export function checkNeutral(fields: Fields, neutral: NeutralValues, prefix = ''): void {
  for (const [name, accepted] of Object.entries(neutral)) {
    const values = accepted.map((value) => JSON.stringify(value));
    if (fields[name] === undefined || values.includes(JSON.stringify(fields[name]))) continue;
    const param = prefix + name;
    const expected = values.join(' or ');
    throw HttpError.invalid(param, `\`${param}\` isn't supported here: leave it out, or pass ${expected}.`);
  }
}

/**
 * A field that is an object of neutral fields, without those that are null; empty where it is left out.
 *
 * @throws HttpError 400.
 */
export function readNeutralObject(fields: Fields, name: string, neutral: NeutralValues): Fields {
  const { [name]: value = {} } = fields;
  if (!isRecord(value)) throw HttpError.expected(name, 'an object');
  const prefix = `${name}.`;
  const given = withoutNulls(value);
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(neutral, key));
  if (unknown !== undefined)
    throw HttpError.unknown(
      prefix + unknown,
      Object.keys(neutral).map((key) => prefix + key),
    );
  checkNeutral(given, neutral, prefix);
  return given;
}

/** `include_obfuscation` is accepted and ignored: the connection is local. */
const STREAM_OPTIONS = ['include_usage', 'continuous_usage_stats', 'include_obfuscation'];

function readStreamOptions(options: Fields | undefined, isStream: boolean): StreamedUsage {
  if (!options) return { isIncluded: false, isContinuous: false };
  if (!isStream)
    throw HttpError.invalid('stream_options', '`stream_options` goes with `stream: true` alone.');
  readFields(options, STREAM_OPTIONS);
  const [isIncluded = false, isContinuous = false] = STREAM_OPTIONS.map((name) => {
    const value = options[name] ?? false;
    if (typeof value === 'boolean') return value;
    throw HttpError.invalid('stream_options', `Expected \`stream_options.${name}\` to be true or false.`);
  });
  return { isIncluded, isContinuous: isIncluded && isContinuous };
}
