import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import type { StructuralPart } from '../../../batching/options/response-format.ts';
import { schemaOf, type GenerationTool } from '../../../batching/options/tools.ts';
import type { JsonRecord } from '../../../batching/base/validate-compound.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { resolve, typesOf, valuesOf } from './argument-types.ts';

/** Where arguments come from. */
export interface ArgumentsPlace {
  /** Names the parameters in errors. */
  readonly option: string;
  /** Says from which option a part of the shape is. */
  readonly noteOrigin: (part: StructuralPart, option: string) => void;
}

/** How arguments are written that aren't one JSON object. */
export interface ArgumentStyle {
  /** Before and behind a value. */
  readonly begin: (name: string) => string;
  readonly end: string;
  readonly separator: string;
  /** A text without quotes ends where `end` begins; else it is one of JSON. */
  readonly hasQuotes: boolean;
  /** A value that a schema lists, or a word. */
  readonly spell: (value: unknown) => string;
}

export const XML_STYLE: ArgumentStyle = {
  begin: (name) => `<parameter=${name}>\n`,
  end: '\n</parameter>\n',
  separator: '',
  hasQuotes: false,
  spell: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
};

export const PYTHON_STYLE: ArgumentStyle = {
  begin: (name) => `${name}=`,
  end: '',
  separator: ', ',
  hasQuotes: true,
  spell: (value) => {
    if (value === null) return 'None';
    if (typeof value === 'boolean') return value ? 'True' : 'False';
    return JSON.stringify(value);
  },
};

export const KEYWORD_JSON_STYLE: ArgumentStyle = { ...PYTHON_STYLE, spell: JSON.stringify };

/** Keywords that describe a value and don't restrict it. */
const ANNOTATIONS = [
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  '$comment',
  '$schema',
  '$id',
];
const DEFINITIONS = ['$defs', 'definitions'];
const OF_OBJECTS = new Set([
  ...ANNOTATIONS,
  ...DEFINITIONS,
  'type',
  'properties',
  'required',
  'additionalProperties',
]);
const NOTHING: StructuralPart = { type: 'const_string', value: '' };

/**
 * The arguments that fit a tool's schema: those that are required, then others.
 *
 * @throws ResponseFormatUnsupportedError for a keyword that isn't enforced.
 */
export function styledArguments(
  tool: GenerationTool,
  place: ArgumentsPlace,
  style: ArgumentStyle,
): StructuralPart {
  return new StyledArguments(schemaOf(tool), place, style).all();
}

class StyledArguments {
  readonly #root: JsonRecord;
  readonly #place: ArgumentsPlace;
  readonly #style: ArgumentStyle;

  constructor(root: JsonRecord, place: ArgumentsPlace, style: ArgumentStyle) {
    this.#root = root;
    this.#place = place;
    this.#style = style;
  }

  all(): StructuralPart {
    const { option } = this.#place;
    const { properties = {}, required = [] } = this.#root;
    const unknown = Object.keys(this.#root).find((keyword) => !OF_OBJECTS.has(keyword));
    if (unknown !== undefined) throw notEnforced(`${option}.${unknown}`);
    if (!isRecord(properties)) throw notEnforced(`${option}.properties`);
    const isRequired = (name: string): boolean => Array.isArray(required) && required.includes(name);
    const names = Object.keys(properties);
    const parts = new Map(names.map((name) => [name, this.#argument(name, properties[name])]));
    const lacking = Array.isArray(required) && required.find((name) => !parts.has(String(name)));
    if (lacking) throw notEnforced(`${option}.required`);
    const partsOf = (chosen: readonly string[]): readonly StructuralPart[] =>
      chosen.flatMap((name) => parts.get(name) ?? []);
    return this.#inOrder(
      partsOf(names.filter(isRequired)),
      partsOf(names.filter((name) => !isRequired(name))),
    );
  }

  /** Others than the first have a separator before them. */
  #inOrder(required: readonly StructuralPart[], optional: readonly StructuralPart[]): StructuralPart {
    const { separator } = this.#style;
    const separated = (part: StructuralPart): StructuralPart =>
      separator === '' ? part : sequence([{ type: 'const_string', value: separator }, part]);
    const orNot = (part: StructuralPart): StructuralPart => ({
      type: 'or',
      elements: [separated(part), NOTHING],
    });
    const [first, ...others] = required;
    if (first) return sequence([first, ...others.map(separated), ...optional.map(orNot)]);
    if (separator === '') return sequence(optional.map(orNot));
    const ways = optional.map((part, index) => sequence([part, ...optional.slice(index + 1).map(orNot)]));
    return { type: 'or', elements: [...ways, NOTHING] };
  }

  #argument(name: string, schema: unknown): StructuralPart {
    const content = this.#valueOf(schema, `${this.#place.option}.properties.${name}`);
    return { type: 'tag', begin: this.#style.begin(name), content, end: this.#style.end };
  }

  #valueOf(schema: unknown, option: string): StructuralPart {
    const resolved = resolve(schema, this.#root);
    const values = isRecord(resolved) ? valuesOf(resolved) : undefined;
    if (values) return this.#oneOf(values);
    const branches = isRecord(resolved) ? (resolved['anyOf'] ?? resolved['oneOf']) : undefined;
    if (isRecord(resolved) && Array.isArray(branches)) {
      const keyword = 'anyOf' in resolved ? 'anyOf' : 'oneOf';
      refuseOthers(resolved, [keyword], option);
      return anyOf(branches.map((branch, index) => this.#valueOf(branch, `${option}.${keyword}[${index}]`)));
    }
    if (isRecord(resolved) && Array.isArray(resolved['type']))
      return anyOf(resolved['type'].map((type: unknown) => this.#valueOf({ ...resolved, type }, option)));
    return this.#plainValue(resolved, option);
  }

  #plainValue(schema: unknown, option: string): StructuralPart {
    const types = typesOf(schema, this.#root);
    if (types.has('string') && !this.#style.hasQuotes) {
      if (isRecord(schema)) refuseOthers(schema, ['type'], option);
      return { type: 'any_text' };
    }
    if (types.size === 1 && types.has('boolean')) return this.#oneOf([true, false]);
    if (types.size === 1 && types.has('null')) return this.#oneOf([null]);
    const definitions = DEFINITIONS.filter((name) => name in this.#root).map((name) => [
      name,
      this.#root[name],
    ]);
    const json_schema = isRecord(schema)
      ? { ...Object.fromEntries(definitions), ...schema }
      : schema !== false;
    const part: StructuralPart = { type: 'json_schema', json_schema };
    this.#place.noteOrigin(part, option);
    return part;
  }

  #oneOf(values: readonly unknown[]): StructuralPart {
    return anyOf(values.map((value) => ({ type: 'const_string', value: this.#style.spell(value) })));
  }
}

function sequence(elements: readonly StructuralPart[]): StructuralPart {
  return elements.length === 0 ? NOTHING : { type: 'sequence', elements };
}

/** Any text is also each of the others. */
function anyOf(elements: readonly StructuralPart[]): StructuralPart {
  return elements.find(({ type }) => type === 'any_text') ?? { type: 'or', elements };
}

function refuseOthers(schema: JsonRecord, enforced: readonly string[], option: string): void {
  const known = [...enforced, ...ANNOTATIONS, ...DEFINITIONS];
  const unknown = Object.keys(schema).find((keyword) => !known.includes(keyword));
  if (unknown !== undefined) throw notEnforced(`${option}.${unknown}`);
}

export function notEnforced(option: string): ResponseFormatUnsupportedError {
  return ResponseFormatUnsupportedError.of(
    option,
    "isn't enforced in this model's form of calls",
    'leave it out',
  );
}
