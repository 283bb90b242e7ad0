import type { ResponseFormat } from '../../../batching/options/response-format.ts';
import { characterOf } from './character-set.ts';
import { choiceOf, type Expression } from './expressions.ts';
import type { JsonLanguage } from './json-language.ts';
import type { Work } from './pace.ts';
import { parseGrammar } from './parse-grammar.ts';
import { parsePattern } from './parse-pattern.ts';
import { schemaLanguage } from './schema-language.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { refusal, type Fields } from './schema-parts.ts';
import { StructuralParts } from './structural-parts.ts';

const PARAM = 'responseFormat';

/** The texts of a shape. @throws ResponseFormatUnsupportedError. */
export function* shapeLanguage(format: ResponseFormat, json: JsonLanguage): Work<Expression> {
  const { make } = json;
  switch (format.type) {
    case 'json_object':
      return yield* schemaLanguage({ type: 'object' }, PARAM, json);
    case 'json_schema':
      return yield* schemaLanguage(format.schema, `${PARAM}.schema`, json);
    case 'choice':
      return yield* choiceOf(format.choices, make);
    case 'regex':
      return yield* patternLanguage(format.pattern, `${PARAM}.pattern`, json);
    case 'grammar':
      return yield* parseGrammar(format.grammar, `${PARAM}.grammar`, make);
    case 'structural_tag': {
      const parts = new StructuralParts(make, (type, fields, param) =>
        leafLanguage(type, fields, param, json),
      );
      return yield* parts.languageOf(format.format, `${PARAM}.format`);
    }
  }
}

function patternLanguage(
  pattern: unknown,
  param: string,
  { make, languages }: JsonLanguage,
): Work<Expression> {
  return parsePattern(pattern, param, languages, (ranges) => characterOf(make, ranges));
}

function* leafLanguage(
  type: 'json_schema' | 'regex' | 'grammar',
  { json_schema: schema, pattern, grammar }: Fields,
  param: string,
  json: JsonLanguage,
): Work<Expression> {
  if (type === 'regex') return yield* patternLanguage(pattern, `${param}.pattern`, json);
  if (type === 'grammar') {
    if (typeof grammar === 'string') return yield* parseGrammar(grammar, `${param}.grammar`, json.make);
    throw refusal(`${param}.grammar`, 'is not a string', 'write a string');
  }
  if (typeof schema !== 'boolean' && !isRecord(schema))
    throw refusal(`${param}.json_schema`, 'is no JSON Schema', 'write an object');
  return yield* schemaLanguage(schema, `${param}.json_schema`, json);
}
