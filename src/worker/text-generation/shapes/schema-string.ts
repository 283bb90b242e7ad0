import type { Expression } from './expressions.ts';
import type { JsonLanguage } from './json-language.ts';
import type { Work } from './pace.ts';
import { countsOf, refusal, type Fields } from './schema-parts.ts';
import { FORMATS } from './string-formats.ts';

/** Formats of the standard that aren't enforced. Other ones restrict nothing. */
const REFUSED = new Set([
  'idn-email',
  'idn-hostname',
  'uri-reference',
  'iri',
  'iri-reference',
  'uri-template',
  'json-pointer',
  'relative-json-pointer',
  'regex',
]);

/** Plain characters: no text but itself matches as a whole, so a text that has it is meant. */
const PLAIN = /^(?:[^\\^$.*+?()[\]{}|]|\\[^\w\s])+$/;

/**
 * Strings with their pattern, format and length. These are of the value: JSON writes some characters as escapes.
 *
 * @throws ResponseFormatUnsupportedError.
 */
export function* stringLanguage(schema: Fields, param: string, json: JsonLanguage): Work<Expression> {
  const { pattern, format } = schema;
  const { from, to } = countsOf(schema, 'minLength', 'maxLength', param);
  if (pattern === undefined && format === undefined)
    return json.string(json.make.repeat(json.character, from, to));
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  const isNamed = pattern !== undefined && typeof format === 'string' && !REFUSED.has(format);
  if (format !== undefined && known === undefined && !isNamed)
    throw refusal(`${param}.format`, "can't be enforced", `use ${Object.keys(FORMATS).join(', ')}`);
  const isCounted = from > (known?.min ?? 0) || to < (known?.max ?? Infinity);
  const conditions = [
    ...(pattern === undefined
      ? []
      : [
          yield* json.pattern(
            pattern,
            `${param}.pattern`,
            typeof pattern === 'string' && PLAIN.test(pattern),
          ),
        ]),
    ...(known === undefined ? [] : [yield* json.pattern(known.pattern, `${param}.format`)]),
    ...(isCounted ? [json.make.repeat(json.characterOf(), from, to)] : []),
  ];
  const content = yield* json.languages.combine(conditions, [], param);
  if (content === json.make.never)
    throw refusal(
      param,
      'allows no text, since its conditions contradict each other',
      'leave out one of its pattern, format and lengths',
    );
  return json.string(content);
}
