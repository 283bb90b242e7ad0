import type { Grammar } from '@mlc-ai/web-xgrammar';

import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import type { JsonSchema, ResponseFormat } from '../../../batching/generation/response-format.ts';
import { checkEbnf, checkGrammar } from './check-grammar.ts';
import { checkPattern } from './check-pattern.ts';
import { checkSchema } from './check-schema.ts';
import type { GrammarLibrary } from './grammar-library.ts';
import { withRanges } from './number-range.ts';
import { lowerSchema } from './lower-schema.ts';
import { OtherKeys } from './other-keys.ts';
import { separateAlternatives } from './separate-alternatives.ts';
import { StringLengths, withStrings, type StringLength } from './string-lengths.ts';
import { StructuralParts } from './structural-parts.ts';

/** Json as Python writes it: small models run away where white space is free. */
const SEPARATORS: [string, string] = [', ', ': '];

/** What the library leaves too wide: raw control characters in strings, and numbers of any length, which may be infinite. */
const CORRECTIONS: readonly (readonly [RegExp, string])[] = [
  [/\[\^\\"\\\\\\r\\n\]/g, String.raw`[^\0-\x1f\"\\]`],
  [/^basic_integer ::= .*$/m, 'basic_integer ::= "0" | "-"? [1-9] [0-9]{0,14}'],
  [
    /^basic_number ::= .*$/m,
    String.raw`basic_number ::= "-"? ("0" | [1-9] [0-9]{0,14}) ("." [0-9]{1,15})? ([eE] [+\-]? [0-9]{1,2})?`,
  ],
];

const PARAM = 'responseFormat';

export interface ShapeGrammar {
  readonly grammar: Grammar;
  /** Of its strings, by their marks. */
  readonly lengths: readonly StringLength[];
}

type Make = (library: GrammarLibrary['library']) => Promise<Grammar>;

/** Makes the grammars of shapes, for a vocabulary of a size. */
export class ShapeGrammars {
  readonly #library: GrammarLibrary;
  readonly #vocabSize: number;

  constructor(library: GrammarLibrary, vocabSize: number) {
    this.#library = library;
    this.#vocabSize = vocabSize;
  }

  /** The caller disposes of it. @throws ResponseFormatUnsupportedError. */
  async create(format: ResponseFormat): Promise<ShapeGrammar> {
    const lengths = new StringLengths();
    const grammar = await this.#fromFormat(format, lengths);
    const printed = grammar.toString();
    const separated = separateAlternatives(printed);
    if (separated === printed) return { grammar, lengths: lengths.all };
    grammar.dispose();
    // A tag's first rule is printed last.
    const [lastRule] = printed.trimEnd().split('\n').at(-1)?.split(' ') ?? [];
    const root = format.type === 'regex' || format.type === 'structural_tag' ? lastRule : undefined;
    return {
      grammar: await this.#made(({ Grammar: Grammars }) => Grammars.fromEBNF(separated, root), PARAM),
      lengths: lengths.all,
    };
  }

  async #fromFormat(format: ResponseFormat, lengths: StringLengths): Promise<Grammar> {
    switch (format.type) {
      case 'json_object':
        return this.#fromEbnf(await this.#fromSchema({ type: 'object' }, lengths, PARAM), PARAM);
      case 'json_schema': {
        const param = `${PARAM}.schema`;
        return this.#fromEbnf(await this.#fromSchema(format.schema, lengths, param), param);
      }
      case 'choice':
        return this.#fromEbnf(`root ::= ${format.choices.map(quoted).join(' | ')}`, `${PARAM}.choices`);
      case 'regex': {
        const param = `${PARAM}.pattern`;
        return this.#fromTag({ type: 'regex', pattern: checkPattern(format.pattern, param) }, param);
      }
      case 'grammar':
        checkEbnf(format.grammar, `${PARAM}.grammar`);
        return this.#fromEbnf(format.grammar, `${PARAM}.grammar`);
      case 'structural_tag': {
        const param = `${PARAM}.format`;
        const parts = new StructuralParts((schema, part) => this.#fromSchema(schema, lengths, part));
        return this.#fromTag(await parts.lower(format.format, param), param);
      }
      default:
        throw new Error(`No grammar for ${JSON.stringify(format satisfies never)}`);
    }
  }

  /** The EBNF of a schema's values. */
  async #fromSchema(schema: JsonSchema, lengths: StringLengths, param: string): Promise<string> {
    checkSchema(schema, param);
    const otherKeys = new OtherKeys();
    const json = JSON.stringify(lowerSchema(schema, { otherKeys, lengths }));
    const grammar = await this.#checked(
      ({ Grammar: Grammars }) => Grammars.fromJSONSchema(json, false, -1, SEPARATORS, true),
      param,
    );
    const printed = grammar.toString();
    grammar.dispose();
    return CORRECTIONS.reduce(
      (text, [wide, narrow]) => text.replace(wide, () => narrow),
      withStrings(withRanges(otherKeys.withoutListed(printed))),
    );
  }

  #fromEbnf(text: string, param: string): Promise<Grammar> {
    return this.#checked(({ Grammar: Grammars }) => Grammars.fromEBNF(text), param);
  }

  #fromTag(tag: Record<string, unknown>, param: string): Promise<Grammar> {
    return this.#checked(({ Grammar: Grammars }) => Grammars.fromStructuralTag(tag), param);
  }

  async #checked(make: Make, param: string): Promise<Grammar> {
    const grammar = await this.#made(make, param);
    checkGrammar(grammar.toString(), this.#vocabSize, param);
    return grammar;
  }

  async #made(make: Make, param: string): Promise<Grammar> {
    try {
      return await this.#library.explained(() => make(this.#library.library));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw ResponseFormatUnsupportedError.of(param, `can't be compiled (${reason})`, 'correct it');
    }
  }
}

/** A text in EBNF. */
function quoted(text: string): string {
  const escaped = text.replaceAll(/["\\\p{Cc}]/gu, (character) =>
    /["\\]/.test(character)
      ? `\\${character}`
      : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `"${escaped}"`;
}
