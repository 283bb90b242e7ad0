import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import type { JsonSchema } from '../../../batching/options/response-format.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { accepts, createShape, loadShapedModel } from './test-support.ts';

interface Group {
  readonly description: string;
  readonly schema: JsonSchema;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

const FOLDER = new URL('tests/draft4/', import.meta.resolve('json-schema-test-suite/package.json'));

/** JSON as shapes write it: with a space behind `,` and `:`. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, entry]) => `${JSON.stringify(name)}: ${written(entry)}`)
    .join(', ')}}`;
}

/** Valid JSON that shapes leave out: values of a type that the schema only implies, and properties that it doesn't name. */
function isLeftOut(schema: JsonSchema, data: unknown): boolean {
  if (!isRecord(schema)) return false;
  const { type, properties = {}, additionalProperties = false } = schema;
  if (!isRecord(data)) return type === undefined;
  // The schema that it leads to implies its type too.
  if (type === undefined && JSON.stringify(schema).includes('"$ref":"#"')) return true;
  const isNamed = (name: string): boolean => isRecord(properties) && Object.hasOwn(properties, name);
  return (
    (type === undefined && !('properties' in schema)) ||
    (additionalProperties === false && !Object.keys(data).every(isNamed))
  );
}

it('accepts the instances of the JSON Schema Test Suite that are valid, and no others, or refuses the schema', async () => {
  const model = await loadShapedModel();
  const table: Record<string, string> = {};
  const wrong: string[] = [];
  const counts = [0, 0];
  for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.json'))) {
    const groups: readonly Group[] = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
    for (const group of groups) {
      try {
        await createShape(model, { type: 'json_schema', schema: group.schema });
      } catch (error) {
        if (!(error instanceof ResponseFormatUnsupportedError)) throw error;
        const { param = '' } = error;
        const keyword = param.split('.').at(-1) ?? param;
        table[keyword] = `${Number(table[keyword] ?? 0) + 1}`;
        continue;
      }
      for (const { description, data, valid } of group.tests) {
        const shape = await createShape(model, { type: 'json_schema', schema: group.schema });
        const isAccepted = await accepts(model, shape, written(data));
        counts[isAccepted ? 0 : 1] = (counts[isAccepted ? 0 : 1] ?? 0) + 1;
        if (isAccepted !== valid && !(valid && isLeftOut(group.schema, data)))
          wrong.push(
            `${file}: ${group.description}: ${description} is ${isAccepted ? 'accepted' : 'refused'}`,
          );
      }
    }
  }
  console.log('schemas refused, by keyword', table, 'instances accepted and refused', counts);
  expect(wrong).toEqual([]);
});
