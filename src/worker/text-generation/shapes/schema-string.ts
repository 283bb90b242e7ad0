import type { Expression } from './expressions.ts';
import type { JsonLanguage } from './json-language.ts';
import type { Work } from './pace.ts';
import { countsOf, refusal, type Fields } from './schema-parts.ts';
import { FORMATS, NUM_STANDARD_FORMATS } from './string-formats.ts';

/** Formats that a validator checks, and that aren't enforced. Other ones restrict nothing. */
const REFUSED = new Set([
  'color',
  'css21',
  'host-name',
  'idn-email',
  'idn-hostname',
  'ip-address',
  'iri',
  'iri-reference',
  'iso-date-time',
  'iso-time',
  'json-pointer',
  'json-pointer-uri-fragment',
  'regex',
  'relative-json-pointer',
  'uri-reference',
  'uri-template',
  'url',
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
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (format !== undefined && (typeof format !== 'string' || REFUSED.has(format)))
    throw refusal(
      `${param}.format`,
      "can't be enforced",
      `leave it out, or use ${Object.keys(FORMATS).slice(0, NUM_STANDARD_FORMATS).join(', ')}`,
    );
  if (pattern === undefined && known === undefined)
    return json.string(json.make.repeat(json.character, from, to));
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
