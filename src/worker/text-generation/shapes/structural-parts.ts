import { shown } from '../../../batching/base/errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import type { Expression, Expressions } from './expressions.ts';
import { checkDepth } from './limits.ts';
import type { Work } from './pace.ts';
import { refusal, type Fields } from './schema-parts.ts';
import { textUntil, type TextEnd } from './text-until.ts';

/** Makes the language of a part that isn't made of parts: a schema, a pattern or a grammar. */
export type LeafLanguage = (
  type: 'json_schema' | 'regex' | 'grammar',
  fields: Fields,
  param: string,
) => Work<Expression>;

/** A tag as it is written, and its text from its beginning on. */
interface Tag {
  readonly begin: string;
  /** The expression after a part of its beginning. */
  readonly behind: (part: string) => Expression;
}

/** Shapes inside a text with structural tags. Its parts name their fields as vLLM does. */
export class StructuralParts {
  readonly #make: Expressions;
  readonly #leafOf: LeafLanguage;
  /** By the content of tags: tags that begin in different ways share one. */
  readonly #contents = new Map<unknown, { readonly end: string; readonly language: Expression }>();

  constructor(make: Expressions, leafOf: LeafLanguage) {
    this.#make = make;
    this.#leafOf = leafOf;
  }

  /**
   * The texts of a part.
   *
   * @param end What ends the tag around it: it comes behind the part, and free text has none.
   * @throws ResponseFormatUnsupportedError.
   */
  *languageOf(part: unknown, param: string, end?: string, depth = 1): Work<Expression> {
    checkDepth(depth, param);
    yield;
    const make = this.#make;
    const { type, ...fields } = isRecord(part) ? part : {};
    const ended = (language: Expression): Expression => make.sequence([language, make.text(end ?? '')]);
    switch (type) {
      case 'any_text':
        return yield* textUntil(endsOf(end, make), end === undefined, make);
      case 'const_string':
        return ended(make.text(textIn(fields, 'value', param)));
      case 'json_schema':
      case 'regex':
      case 'grammar':
        return ended(yield* this.#leafOf(type, fields, param));
      case 'sequence': {
        const parts = partsIn(fields, 'elements', param);
        const languages = [];
        for (const [index, each] of parts.entries()) {
          const isLast = index === parts.length - 1;
          const place = `${param}.elements[${index}]`;
          languages.push(yield* this.languageOf(each, place, isLast ? end : undefined, depth + 1));
        }
        return make.sequence(languages);
      }
      case 'or': {
        const languages = [];
        for (const [index, each] of partsIn(fields, 'elements', param).entries())
          languages.push(yield* this.languageOf(each, `${param}.elements[${index}]`, end, depth + 1));
        return make.choice(languages);
      }
      case 'tag': {
        const { behind } = yield* this.#tagOf(fields, param, depth);
        return ended(behind(''));
      }
      case 'triggered_tags':
        return yield* this.#triggered(fields, param, end, depth);
      case 'tags_with_separator':
        return ended(yield* this.#separated(fields, param, depth));
      default:
        throw refusal(
          `${param}.type`,
          'is not a part of a structural tag',
          'see StructuralPart for the types',
        );
    }
  }

  *#tagOf(fields: Fields, param: string, depth: number): Work<Tag> {
    const begin = textIn(fields, 'begin', param);
    const end = textIn(fields, 'end', param);
    const known = this.#contents.get(fields['content']);
    const language =
      known?.end === end
        ? known.language
        : yield* this.languageOf(fields['content'], `${param}.content`, end, depth + 1);
    this.#contents.set(fields['content'], { end, language });
    return {
      begin,
      behind: (part) => this.#make.sequence([this.#make.text(begin.slice(part.length)), language]),
    };
  }

  *#tagsIn(fields: Fields, param: string, depth: number): Work<readonly Tag[]> {
    const tags = [];
    for (const [index, tag] of partsIn(fields, 'tags', param).entries()) {
      const place = `${param}.tags[${index}]`;
      if (!isRecord(tag) || tag['type'] !== 'tag')
        throw refusal(place, 'is no tag', 'write { type: "tag", begin, content, end }');
      tags.push(yield* this.#tagOf(tag, place, depth + 1));
    }
    return tags;
  }

  *#triggered(fields: Fields, param: string, end: string | undefined, depth: number): Work<Expression> {
    const make = this.#make;
    const tags = yield* this.#tagsIn(fields, param, depth);
    const isOne = fields['stop_after_first'] === true;
    const further = make.rule('free text');
    const behindTag = isOne ? make.text(end ?? '') : further;
    const triggers = triggersIn(fields, tags, param).map((text): TextEnd => ({
      text,
      behind: make.sequence([
        make.choice(tags.filter(({ begin }) => begin.startsWith(text)).map(({ behind }) => behind(text))),
        behindTag,
      ]),
    }));
    further.body = yield* textUntil([...triggers, ...endsOf(end, make)], end === undefined, make);
    if (fields['at_least_one'] !== true) return further;
    return make.sequence([make.choice(tags.map(({ behind }) => behind(''))), behindTag]);
  }

  *#separated(fields: Fields, param: string, depth: number): Work<Expression> {
    const make = this.#make;
    const separator = textIn(fields, 'separator', param);
    const tag = make.choice((yield* this.#tagsIn(fields, param, depth)).map(({ behind }) => behind('')));
    const further = make.repeat(make.sequence([make.text(separator), tag]), 0, Infinity);
    const some = fields['stop_after_first'] === true ? tag : make.sequence([tag, further]);
    return fields['at_least_one'] === true ? some : make.optional(some);
  }
}

function endsOf(end: string | undefined, make: Expressions): readonly TextEnd[] {
  return end === undefined || end === '' ? [] : [{ text: end, behind: make.empty }];
}

function textIn(fields: Fields, name: string, param: string): string {
  const text = fields[name];
  if (typeof text === 'string') return text;
  throw refusal(`${param}.${name}`, 'is not a string', 'write a string');
}

function partsIn(fields: Fields, name: string, param: string): readonly unknown[] {
  const parts = fields[name];
  if (Array.isArray(parts) && parts.length > 0) return parts;
  throw refusal(`${param}.${name}`, 'lists no part', 'list at least one');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Each tag begins with one of them, and none begins with another. */
function triggersIn({ triggers }: Fields, tags: readonly Tag[], param: string): readonly string[] {
  if (!Array.isArray(triggers) || triggers.length === 0 || !triggers.every(isText))
    throw refusal(`${param}.triggers`, 'lists no text', 'list the beginning of each tag');
  const strange = tags.find(({ begin }) => !triggers.some((trigger) => begin.startsWith(trigger)));
  if (strange !== undefined)
    throw refusal(
      `${param}.triggers`,
      `begins no tag like ${shown(strange.begin)}`,
      'list the beginning of each tag',
    );
  return triggers;
}
