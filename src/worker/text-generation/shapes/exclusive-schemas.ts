import { isRecord } from '../../../platform/is-record.ts';

/** Whether no value fits two of these schemas, as far as that shows in their types or in a required constant. */
export function areExclusive(schemas: readonly unknown[]): boolean {
  const records = schemas.filter(isRecord);
  if (records.length < schemas.length) return false;
  const listed = records.map(valuesOf);
  if (listed.every((list) => list !== undefined)) return areDisjoint(listed);
  const types = records.map(({ type }) =>
    [type].flat().map((name) => (name === 'integer' ? 'number' : String(name))),
  );
  if (areDisjoint(types) && !types.flat().includes('undefined')) return true;
  const [first] = records;
  const names = isRecord(first?.['properties']) ? Object.keys(first['properties']) : [];
  return names.some((name) => {
    const constants = records.map(({ properties, required }) => {
      const property = isRecord(properties) ? properties[name] : undefined;
      const isRequired = Array.isArray(required) && required.includes(name);
      return isRequired && isRecord(property) ? valuesOf(property) : undefined;
    });
    return constants.every((values) => values !== undefined) && areDisjoint(constants);
  });
}

/** The values of a const, an enum or a boolean, as JSON. */
export function valuesOf(schema: unknown): readonly string[] | undefined {
  if (!isRecord(schema)) return undefined;
  if (schema['type'] === 'boolean') return ['true', 'false'];
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  return Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : undefined;
}

function areDisjoint(lists: readonly (readonly string[])[]): boolean {
  return new Set(lists.flat()).size === lists.reduce((sum, list) => sum + list.length, 0);
}
