import type { ResponseFormat } from '../generation.ts';
import { parseOrderedJson } from '../../batching/base/ordered-json.ts';
import { isRecord } from '../../platform/is-record.ts';
import { HttpError } from './http-error.ts';
import { withoutNulls } from './fields.ts';
import { readText, textOf } from './chat-messages.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The shape of an answer, and the names of its parts in the body. */
export interface AskedFormat {
  readonly names: readonly (readonly [ours: string, theirs: string])[];
  readonly format: ResponseFormat | undefined;
}

/** The fields of a body that ask for a shape. */
export const FORMAT_FIELDS = ['response_format', 'structured_outputs'];

const OPENAI_NAMES = [
  ['responseFormat', 'response_format'],
  ['responseFormat.schema', 'response_format.json_schema.schema'],
] as const;
const FLAT_NAMES = [
  ['responseFormat', 'response_format'],
  ['responseFormat.schema', 'response_format.schema'],
] as const;
const VLLM_NAMES = [
  ['responseFormat', 'structured_outputs'],
  ['responseFormat.schema', 'structured_outputs.json'],
  ['responseFormat.pattern', 'structured_outputs.regex'],
  ['responseFormat.format', 'structured_outputs.structural_tag.format'],
] as const;

/** OpenAI's `response_format` or vLLM's `structured_outputs`. The worker checks the shape itself. @throws HttpError 400 */
export function readAskedFormat(fields: Fields): AskedFormat {
  const { response_format: openAi, structured_outputs: vllm } = fields;
  const asked = {
    names: vllm === undefined ? OPENAI_NAMES : VLLM_NAMES,
    format: vllm === undefined ? undefined : readStructuredOutputs(vllm),
  };
  if (openAi === undefined) return asked;
  const format = readOpenAiFormat('response_format', openAi);
  if (format && vllm !== undefined)
    throw HttpError.invalid(
      'structured_outputs',
      '`response_format` and `structured_outputs` are two shapes of one answer: pass one of them.',
    );
  if (vllm !== undefined) return asked;
  const isFlat = isRecord(openAi) && isRecord(openAi['schema']);
  return { names: isFlat ? FLAT_NAMES : OPENAI_NAMES, format };
}

/** The name and the description tell the model nothing, and every schema is enforced. */
const SCHEMA_FIELDS = ['name', 'description', 'schema', 'strict'];
const NESTED_FIELDS = ['type', 'json_schema'];
const FIELDS_OF_TYPE: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['type']],
  ['json_object', ['type', 'schema']],
  ['json_schema', ['type', ...SCHEMA_FIELDS]],
  ['structural_tag', ['type', 'format']],
]);

/**
 * OpenAI's `response_format`, and `text.format` of the Responses API, which has the fields of a schema beside its type.
 *
 * @throws HttpError 400
 */
export function readOpenAiFormat(place: string, value: unknown): ResponseFormat | undefined {
  if (!isRecord(value)) throw HttpError.expected(place, 'an object with a `type`', textOf(value));
  const { type, json_schema: nested, schema, format } = value;
  const isNested = nested !== undefined && nested !== null;
  const known = isNested ? NESTED_FIELDS : FIELDS_OF_TYPE.get(type);
  if (!known || (isNested && type !== 'json_schema'))
    throw HttpError.expected(
      `${place}.type`,
      isNested ? 'json_schema' : 'text, json_object, json_schema or structural_tag',
      textOf(type),
    );
  checkKnown(place, value, known);
  if (type === 'text') return undefined;
  if (type === 'structural_tag') return readTag(`${place}.format`, format);
  // As in llama.cpp, an object may have a schema.
  if (type === 'json_object' && (schema === undefined || schema === null)) return { type };
  if (!isNested) return readSchema(`${place}.schema`, schema);
  const inner = `${place}.json_schema`;
  if (!isRecord(nested)) throw HttpError.expected(inner, 'an object with a `schema`', textOf(nested));
  checkKnown(inner, nested, SCHEMA_FIELDS);
  return readSchema(`${inner}.schema`, nested['schema']);
}

function checkKnown(place: string, fields: Fields, known: readonly string[]): void {
  const unknown = Object.keys(withoutNulls(fields)).find((field) => !known.includes(field));
  if (unknown !== undefined)
    throw HttpError.unknown(
      `${place}.${unknown}`,
      known.map((field) => `${place}.${field}`),
    );
}

function readSchema(place: string, schema: unknown): ResponseFormat {
  if (isRecord(schema) || typeof schema === 'boolean') return { type: 'json_schema', schema };
  throw HttpError.expected(place, 'a JSON Schema', textOf(schema));
}

/** By the fields of `structured_outputs`, of which a request has one. */
const READERS: Readonly<Record<string, (place: string, value: unknown) => ResponseFormat>> = {
  json: (place, value) => readSchema(place, fromText(place, value)),
  json_object: (place, value) => {
    if (value === true) return { type: 'json_object' };
    throw HttpError.expected(place, 'true, or left out', textOf(value));
  },
  choice: (place, value) => {
    if (Array.isArray(value) && value.every((choice) => typeof choice === 'string'))
      return { type: 'choice', choices: value };
    throw HttpError.expected(place, 'a list of strings', textOf(value));
  },
  regex: (place, value) => ({ type: 'regex', pattern: readText(place, value) }),
  grammar: (place, value) => ({ type: 'grammar', grammar: readText(place, value) }),
  structural_tag: (place, value) => {
    const tag = fromText(place, value);
    return readTag(place, isRecord(tag) && tag['type'] === 'structural_tag' ? tag['format'] : tag);
  },
};

function readStructuredOutputs(value: unknown): ResponseFormat {
  const name = 'structured_outputs';
  if (!isRecord(value)) throw HttpError.expected(name, 'an object', textOf(value));
  const known = Object.keys(READERS);
  const [first, second] = Object.entries(withoutNulls(value));
  checkKnown(name, value, known);
  if (!first) throw HttpError.expected(name, `an object with one of ${known.join(', ')}`, '{}');
  if (second)
    throw HttpError.invalid(
      name,
      `\`${name}\` has \`${first[0]}\` and \`${second[0]}\`, which may contradict each other: pass one of them.`,
    );
  const [field, inner] = first;
  const read = READERS[field];
  if (!read) throw new Error(`There is no reader of ${field}.`);
  return read(`${name}.${field}`, inner);
}

function readTag(place: string, format: unknown): ResponseFormat {
  if (isStructuralPart(format)) return { type: 'structural_tag', format };
  throw HttpError.expected(place, 'a structural tag: an object with a `type`', textOf(format));
}

type StructuralPart = Extract<ResponseFormat, { type: 'structural_tag' }>['format'];

/** The worker checks the rest. */
function isStructuralPart(value: unknown): value is StructuralPart {
  return isRecord(value) && typeof value['type'] === 'string';
}

/** vLLM takes JSON as a text, too. */
function fromText(place: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return parseOrderedJson(value);
  } catch {
    throw HttpError.expected(place, 'JSON', value);
  }
}
