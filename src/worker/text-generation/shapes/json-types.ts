type Fields = Readonly<Record<string, unknown>>;

export const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type TypeName = (typeof TYPES)[number];

export const NUMBER_KEYWORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];

/** The keywords that are enforced, by the type that they restrict. */
export const KEYWORDS: { readonly [Type in TypeName]: readonly string[] } = {
  object: ['properties', 'required', 'additionalProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern'],
  number: NUMBER_KEYWORDS,
  integer: NUMBER_KEYWORDS,
  boolean: [],
  null: [],
};

/**
 * The types of a schema's values. A schema without a type but with keywords of objects, arrays or strings counts as one of these,
 * although by the standard it accepts all values of other types too.
 */
export function typesOf({ type, ...schema }: Fields): readonly unknown[] {
  if (type !== undefined) return [type].flat();
  return (['object', 'array', 'string'] as const)
    .filter((name) => KEYWORDS[name].some((keyword) => schema[keyword] !== undefined))
    .slice(0, 1);
}
