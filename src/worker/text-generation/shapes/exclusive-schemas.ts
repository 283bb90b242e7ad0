import { spellingOf } from '../../../batching/base/ordered-json.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { writeJson } from './json-language.ts';

/** Whether no value fits two of these schemas, as far as that shows in their types or in a required constant. */
export function areExclusive(schemas: readonly unknown[], param: string): boolean {
  const records = schemas.filter(isRecord);
  if (records.length < schemas.length) return false;
  const namesOf = (schema: unknown): readonly string[] | undefined => {
    const values = valuesOf(schema, param);
    return values && [...values.keys()];
  };
  const listed = records.map(namesOf);
  if (listed.every((list) => list !== undefined)) return areDisjoint(listed);
  const types = records.map(({ type }) => [
    ...new Set([type].flat().map((name) => (name === 'integer' ? 'number' : String(name)))),
  ]);
  const areTyped = !types.flat().includes('undefined');
  if (areTyped && areDisjoint(types)) return true;
  // Values of another type would fit whatever the properties are.
  if (!types.every((names) => names.every((name) => name === 'object' || name === 'undefined'))) return false;
  const [first] = records;
  const names = isRecord(first?.['properties']) ? Object.keys(first['properties']) : [];
  return names.some((name) => {
    const constants = records.map(({ properties, required }) => {
      const property = isRecord(properties) ? properties[name] : undefined;
      const isRequired = Array.isArray(required) && required.includes(name);
      return isRequired ? namesOf(property) : undefined;
    });
    return constants.every((values) => values !== undefined) && areDisjoint(constants);
  });
}

/** The texts of the values that a const, an enum or a boolean lists, each by a name that equal ones have in common. */
export function valuesOf(schema: unknown, param: string): ReadonlyMap<string, string> | undefined {
  if (!isRecord(schema)) return undefined;
  const { enum: listed } = schema;
  if ('const' in schema) return textsOf([schema['const']], [spellingOf(schema, 'const')], param);
  if (Array.isArray(listed))
    return textsOf(
      listed,
      listed.map((_, index) => spellingOf(listed, index)),
      param,
    );
  return schema['type'] === 'boolean' ? textsOf([true, false], [], param) : undefined;
}

function textsOf(
  values: readonly unknown[],
  spellings: readonly (string | undefined)[],
  param: string,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [index, value] of values.entries()) {
    const text = writeJson(value, param, spellings[index]);
    const name = nameOf(value);
    if (!texts.has(name)) texts.set(name, text);
  }
  return texts;
}

/** Equal values have the same: the order of keys does not tell objects apart. */
function nameOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

function areDisjoint(lists: readonly (readonly string[])[]): boolean {
  return new Set(lists.flat()).size === lists.reduce((sum, list) => sum + list.length, 0);
}
