import { InvalidOptionError, shown } from '../base/errors.ts';
import { spellingOf } from '../base/ordered-json.ts';
import { validator, type Validate } from '../base/validate.ts';
import { isRecord, jsonRecordIn, type TextBounds } from '../base/validate-compound.ts';
import { unknownOption } from '../base/unknown-option-error.ts';

/** A JSON Schema, of draft 2020-12 or older. A keyword that can't be enforced is refused by name. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** A shape whose beginning the prompt may have. */
export interface BegunFormat {
  /** The end of the prompt, which begins the shape: the answer continues it. Empty by default. */
  readonly prefix?: string | undefined;
}

/** The answer is JSON that the schema accepts, with at most one white space between its tokens. */
export interface JsonSchemaFormat extends BegunFormat {
  readonly type: 'json_schema';
  /** The schema of the answer. */
  readonly schema: JsonSchema;
  /** For the caller. It changes nothing. */
  readonly name?: string | undefined;
}

/** The answer is any JSON object. */
export interface JsonObjectFormat extends BegunFormat {
  readonly type: 'json_object';
}

/** The answer is one of these texts. With `logprobs`, the result has the probability of each, and the answer is drawn from these. */
export interface ChoiceFormat {
  readonly type: 'choice';
  /** The texts, each of which is a whole answer. */
  readonly choices: readonly string[];
}

/** The whole answer matches this regular expression, as if it stood between `^` and `$`. */
export interface RegexFormat extends BegunFormat {
  readonly type: 'regex';
  /** In the syntax of JavaScript. */
  readonly pattern: string;
}

/** The answer is a text of this EBNF grammar, whose first rule is `root ::= …`. */
export interface GrammarFormat extends BegunFormat {
  readonly type: 'grammar';
  /** Its rules, a line each. */
  readonly grammar: string;
}

/**
 * Free text with parts of a given shape, in the JSON that vLLM takes. A tool call in free text is
 * `{ type: 'triggered_tags', triggers: ['<tool_call>'], tags: [{ type: 'tag', begin: '<tool_call>', content: { type:
 * 'json_schema', json_schema }, end: '</tool_call>' }] }`. A shape that begins after the thinking is `{ type: 'sequence',
 * elements: [{ type: 'tag', begin: '', content: { type: 'any_text' }, end: '</think>' }, shape] }`.
 */
export interface StructuralTagFormat extends BegunFormat {
  readonly type: 'structural_tag';
  /** The whole answer. */
  readonly format: StructuralPart;
}

/** A text between `begin` and `end`. */
export interface StructuralTag {
  readonly type: 'tag';
  /** The text before the content. */
  readonly begin: string;
  /** The text between the two. */
  readonly content: StructuralPart;
  /** The text behind the content. */
  readonly end: string;
}

/** A part of a text with structural tags. */
export type StructuralPart =
  /** Any text: until the `end` of the tag around it, or the end token. */
  | { readonly type: 'any_text' }
  | { readonly type: 'const_string'; readonly value: string }
  | { readonly type: 'json_schema'; readonly json_schema: JsonSchema }
  | Omit<RegexFormat, 'prefix'>
  | Omit<GrammarFormat, 'prefix'>
  /** One part after another. */
  | { readonly type: 'sequence'; readonly elements: readonly StructuralPart[] }
  /** One of these parts. */
  | { readonly type: 'or'; readonly elements: readonly StructuralPart[] }
  | StructuralTag
  /** Free text. A trigger, which begins the `begin` of a tag, must be the beginning of such a tag. */
  | {
      readonly type: 'triggered_tags';
      readonly triggers: readonly string[];
      readonly tags: readonly StructuralTag[];
      /** The text begins with a tag. */
      readonly at_least_one?: boolean;
      /** The text ends after its first tag. */
      readonly stop_after_first?: boolean;
    }
  /** Tags with this text between them, and no other text. */
  | {
      readonly type: 'tags_with_separator';
      readonly tags: readonly StructuralTag[];
      readonly separator: string;
      /** At least one tag. */
      readonly at_least_one?: boolean;
      /** At most one tag. */
      readonly stop_after_first?: boolean;
    };

/** The shape of the answer. */
export type ResponseFormat =
  | JsonSchemaFormat
  | JsonObjectFormat
  | ChoiceFormat
  | RegexFormat
  | GrammarFormat
  | StructuralTagFormat;

const MAX_CHOICES = 256;
const MAX_CHOICE_LENGTH = 256;

/** The deepest nesting of objects and lists. A part of a shape has up to three of them. */
const MAX_LEVELS = 200;

interface Field {
  readonly name: string;
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

const TEXT = { expected: 'a string that is not empty', holds: isText };

/** The required field of each type. What is inside is checked when the shape is compiled. */
const FIELDS: { readonly [Type in ResponseFormat['type']]: Field | undefined } = {
  json_schema: {
    name: 'schema',
    expected: 'a JSON Schema: an object or a boolean',
    holds: (value) => typeof value === 'boolean' || isRecord(value),
  },
  json_object: undefined,
  choice: {
    name: 'choices',
    expected: `a list of 1 to ${MAX_CHOICES} different strings of 1 to ${MAX_CHOICE_LENGTH} characters`,
    holds: isChoiceList,
  },
  regex: { name: 'pattern', ...TEXT },
  grammar: { name: 'grammar', ...TEXT },
  structural_tag: { name: 'format', expected: 'an object', holds: isRecord },
};

/** @param bounds Of the shape as JSON. */
export function responseFormatIn(bounds: TextBounds): Validate<ResponseFormat> {
  const isJson = jsonRecordIn(bounds);
  const types = Object.keys(FIELDS).join(', ');
  const expected = `an object of at most ${bounds.maxLength} characters of JSON and ${MAX_LEVELS} levels, whose type is one of ${types}`;
  return validator(expected, (value, refuse, option) => {
    if (!isRecord(value)) throw refuse(value);
    if (isDeeper(value, MAX_LEVELS)) throw refuse(`more than ${MAX_LEVELS} levels`);
    if (hasLostNumber(value)) throw refuse('a number that JSON has no text for: NaN or Infinity');
    const format = isJson(option, value);
    const { type } = format;
    if (typeof type !== 'string' || !Object.hasOwn(FIELDS, type)) throw refuse(`type ${shown(type)}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is a key of the table
    const field = FIELDS[type as ResponseFormat['type']];
    const texts = [...(type === 'json_schema' ? ['name'] : []), ...(type === 'choice' ? [] : ['prefix'])];
    const known = ['type', ...(field ? [field.name] : []), ...texts];
    const unknown = Object.keys(format).find((name) => !known.includes(name));
    if (unknown !== undefined) throw unknownOption(`${option}.${unknown}`, known);
    if (field && !field.holds(format[field.name]))
      throw InvalidOptionError.of(`${option}.${field.name}`, field.expected, format[field.name]);
    for (const name of texts)
      if (format[name] !== undefined && typeof format[name] !== 'string')
        throw InvalidOptionError.of(`${option}.${name}`, 'a string', format[name]);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field has passed its check
    return format as unknown as ResponseFormat;
  });
}

/** The beginning that the prompt has. */
export function prefixOf(format: ResponseFormat | undefined): string {
  return (format && 'prefix' in format && format.prefix) || '';
}

/** Without the stack, which deeper values would use up. */
function isDeeper(value: unknown, maxLevels: number): boolean {
  let level = new Set([value]);
  for (let depth = 0; depth <= maxLevels; depth += 1) {
    const parts = [...level].flatMap((each): unknown[] =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
    if (parts.length === 0) return false;
    level = new Set(parts);
  }
  return true;
}

/** JSON would have null in its place, which a const could ask for. */
function hasLostNumber(value: object): boolean {
  let hasLost = false;
  try {
    JSON.stringify(value, function find(this: object, key: string, part: unknown) {
      hasLost ||= typeof part === 'number' && !Number.isFinite(part) && spellingOf(this, key) === undefined;
      return part;
    });
  } catch {
    // The next check refuses it: a cycle, a bigint.
  }
  return hasLost;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isChoice(value: unknown): boolean {
  return isText(value) && value.length <= MAX_CHOICE_LENGTH;
}

function isChoiceList(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_CHOICES) return false;
  return value.every(isChoice) && new Set(value).size === value.length;
}
