import { InvalidOptionError } from '../base/errors.ts';
import { validator } from '../base/validate.ts';
import {
  isRecord,
  jsonRecordIn,
  type JsonRecord,
  type ListBounds,
  type TextBounds,
} from '../base/validate-compound.ts';

/** A function that the model may call. The caller runs it, and sends its answer as a message with the role `tool`. */
export interface GenerationTool {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string;
  /** Tells the model when to call it. */
  readonly description?: string | null | undefined;
  /** A JSON Schema of the type `object`, which every call's arguments fit. Left out for a function without parameters. */
  readonly parameters?: JsonRecord | null | undefined;
  /** OpenAI's field. Every call fits its schema, so only the chat template reads this. */
  readonly strict?: boolean | null | undefined;
}

/** Whether the model calls tools: as it likes, never, at least one of them, or this one. */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | {
      /** The tool's name. */
      readonly name: string;
    };

/** The names that OpenAI's API takes. */
const NAME = /^[\w-]{1,64}$/;
const FIELDS = ['name', 'description', 'parameters', 'strict'];

/** @param bounds Of each tool as JSON. */
export function toolsIn({ maxItems, maxLength }: ListBounds & TextBounds) {
  const isJson = jsonRecordIn({ maxLength });
  const expected = `a list of at most ${maxItems} tools, each \`{ name, description, parameters }\` of at most ${maxLength} characters of JSON`;
  return validator(expected, (value, refuse, option): readonly GenerationTool[] => {
    if (!Array.isArray(value) || value.length > maxItems) throw refuse(value);
    const tools = value.map((tool, index) =>
      readTool(`${option}[${index}]`, isJson(`${option}[${index}]`, tool)),
    );
    const twice = tools.findIndex(
      ({ name }, index) => tools.findIndex((other) => other.name === name) < index,
    );
    if (twice >= 0)
      throw InvalidOptionError.of(`${option}[${twice}].name`, 'a name of its own', tools[twice]?.name);
    return tools;
  });
}

/** Keeps the order of the fields, and those that are null or left out: the chat template may write the tool as JSON. */
function readTool(place: string, given: JsonRecord): GenerationTool {
  const { name, description, parameters, strict, ...others } = given;
  const [unknown] = Object.entries(others);
  if (unknown)
    throw InvalidOptionError.of(
      `${place}.${unknown[0]}`,
      `left out: a tool has ${FIELDS.join(', ')}`,
      unknown[1],
    );
  if (typeof name !== 'string' || !NAME.test(name))
    throw InvalidOptionError.of(`${place}.name`, '1 to 64 letters, digits, _ and -', name);
  if (!isAbsent(description) && typeof description !== 'string')
    throw InvalidOptionError.of(`${place}.description`, 'a string', description);
  if (!isAbsent(parameters) && !isObjectSchema(parameters))
    throw InvalidOptionError.of(`${place}.parameters`, 'a JSON Schema of the type object', parameters);
  if (!isAbsent(strict) && typeof strict !== 'boolean')
    throw InvalidOptionError.of(`${place}.strict`, 'true or false', strict);
  return {
    ...given,
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
    ...(strict !== undefined && { strict }),
  };
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

function isObjectSchema(schema: unknown): schema is JsonRecord {
  return isRecord(schema) && (!('type' in schema) || schema['type'] === 'object');
}

const NO_PARAMETERS = { type: 'object', properties: {}, additionalProperties: false };

/** The schema of a tool's arguments. */
export function schemaOf({ parameters }: GenerationTool): JsonRecord {
  if (!parameters) return NO_PARAMETERS;
  return 'type' in parameters ? parameters : { type: 'object', ...parameters };
}

export const isToolChoice = validator(
  'auto, none, required, or `{ name }` of a tool',
  (value, refuse): ToolChoice => {
    if (value === 'auto' || value === 'none' || value === 'required') return value;
    if (isRecord(value) && Object.keys(value).length === 1 && typeof value['name'] === 'string')
      return { name: value['name'] };
    throw refuse(value);
  },
);
