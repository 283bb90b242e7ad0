import { ResponseFormatUnsupportedError, shown } from '../../../batching/errors.ts';
import type { JsonSchema } from '../../../batching/generation/response-format.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { checkEbnf } from './check-grammar.ts';
import { checkPattern } from './check-pattern.ts';

type Fields = Readonly<Record<string, unknown>>;
type Lowered = Record<string, unknown>;

/** A shape inside a text with structural tags. Its parts name their fields as vLLM and the library do. */
export class StructuralParts {
  readonly #toGrammar: (schema: JsonSchema, param: string) => Promise<string>;

  /** @param toGrammar The library's own grammar of a schema would leave white space without bounds. */
  constructor(toGrammar: (schema: JsonSchema, param: string) => Promise<string>) {
    this.#toGrammar = toGrammar;
  }

  /** The part as the library takes it. @throws ResponseFormatUnsupportedError. */
  async lower(part: unknown, param: string): Promise<Lowered> {
    const { type, ...fields } = isRecord(part) ? part : {};
    switch (type) {
      case 'any_text':
        return { type };
      case 'const_string':
        return { type, value: textIn(fields, 'value', param) };
      case 'json_schema':
        return {
          type: 'grammar',
          grammar: await this.#toGrammar(schemaIn(fields, param), `${param}.json_schema`),
        };
      case 'regex':
        return { type, pattern: checkPattern(fields['pattern'], `${param}.pattern`) };
      case 'grammar': {
        const grammar = textIn(fields, 'grammar', param);
        checkEbnf(grammar, `${param}.grammar`);
        return { type, grammar };
      }
      case 'sequence':
      case 'or':
        return { type, elements: await this.#lowerAll(fields, 'elements', param) };
      case 'tag':
        return {
          type,
          begin: textIn(fields, 'begin', param),
          content: await this.lower(fields['content'], `${param}.content`),
          end: textIn(fields, 'end', param),
        };
      case 'triggered_tags':
        return { ...(await this.#lowerTags(type, fields, param)), triggers: triggersIn(fields, param) };
      case 'tags_with_separator':
        return {
          ...(await this.#lowerTags(type, fields, param)),
          separator: textIn(fields, 'separator', param),
        };
      default:
        throw refusal(`${param}.type`, 'is no part of a structural tag', 'see StructuralPart for the types');
    }
  }

  async #lowerTags(type: string, fields: Fields, param: string): Promise<Lowered> {
    const tags = await this.#lowerAll(fields, 'tags', param);
    const other = tags.findIndex((tag) => tag['type'] !== 'tag');
    if (other >= 0)
      throw refusal(`${param}.tags[${other}]`, 'is no tag', 'write { type: "tag", begin, content, end }');
    return {
      type,
      tags,
      at_least_one: fields['at_least_one'] === true,
      stop_after_first: fields['stop_after_first'] === true,
    };
  }

  #lowerAll(fields: Fields, name: string, param: string): Promise<readonly Lowered[]> {
    const parts = fields[name];
    if (!Array.isArray(parts) || parts.length === 0)
      throw refusal(`${param}.${name}`, 'lists no part', 'list at least one');
    return Promise.all(parts.map((part, index) => this.lower(part, `${param}.${name}[${index}]`)));
  }
}

function textIn(fields: Fields, name: string, param: string): string {
  const text = fields[name];
  if (typeof text === 'string') return text;
  throw refusal(`${param}.${name}`, 'is no string', 'write a string');
}

function schemaIn({ json_schema: schema }: Fields, param: string): JsonSchema {
  if (typeof schema === 'boolean' || isRecord(schema)) return schema;
  throw refusal(`${param}.json_schema`, 'is no JSON Schema', 'write an object');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Each tag begins with one of them, and none begins with another. */
function triggersIn({ triggers, tags }: Fields, param: string): readonly string[] {
  if (!Array.isArray(triggers) || triggers.length === 0 || !triggers.every(isText))
    throw refusal(`${param}.triggers`, 'lists no text', 'list the beginning of each tag');
  const begins = (Array.isArray(tags) ? tags : []).map((tag: unknown) => (isRecord(tag) ? tag['begin'] : ''));
  const strange = begins.find((begin) => !triggers.some((trigger) => String(begin).startsWith(trigger)));
  if (strange !== undefined)
    throw refusal(
      `${param}.triggers`,
      `begins no tag like ${shown(strange)}`,
      'list the beginning of each tag',
    );
  return triggers;
}

function refusal(param: string, reason: string, remedy: string): ResponseFormatUnsupportedError {
  return ResponseFormatUnsupportedError.of(param, reason, remedy);
}
