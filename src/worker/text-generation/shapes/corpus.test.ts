import addFormats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';

import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import {
  everydaySchemas,
  formatOf,
  randomAnswer,
  type EverydaySchema,
} from '../../testing/random-answers.ts';
import { loadShapedModel } from './test-support.ts';
import { SEED, IS_WHOLE } from '../../../batching/testing/whole-run.ts';

const NUM_ANSWERS = IS_WHOLE ? 60 : 4;

/** Precise as decimals are: 0.29 is a multiple of 0.01. */
const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 9, logger: false });
addFormats['default'](ajv);

const schemas = everydaySchemas();
const model = await loadShapedModel();

/** The finished answers; undefined for a schema that is refused. */
async function answersTo(schema: EverydaySchema): Promise<readonly string[] | undefined> {
  const answers: string[] = [];
  try {
    for (let seed = SEED; seed < SEED + NUM_ANSWERS; seed += 1) {
      const answer = await randomAnswer(model, formatOf(schema), seed);
      if (answer !== undefined) answers.push(answer);
    }
  } catch (error) {
    if (error instanceof ResponseFormatUnsupportedError) return undefined;
    throw error;
  }
  return answers;
}

it(`of the everyday types that zod and Pydantic write as schemas most are taken, and ajv finds every answer valid (SEED=${SEED})`, async () => {
  expect(schemas).toHaveLength(131);
  const refused: string[] = [];
  const wrong: string[] = [];
  let numAnswered = 0;
  for (const schema of schemas) {
    const name = `${schema.source}: ${schema.name}`;
    const answers = await answersTo(schema);
    if (!answers) refused.push(name);
    if (answers && answers.length > 0) numAnswered += 1;
    const validate = ajv.compile(JSON.parse(schema.schema));
    for (const answer of answers ?? []) if (!isValid(answer, validate)) wrong.push(`${name}: ${answer}`);
  }
  expect(wrong.join('\n')).toBe('');
  expect(numAnswered).toBeGreaterThan(115);
  expect(schemas.length - refused.length, `refused: ${refused.join(', ')}`).toBeGreaterThanOrEqual(124);
}, 600_000);

function isValid(json: string, validate: (value: unknown) => boolean): boolean {
  try {
    return validate(JSON.parse(json));
  } catch {
    return false;
  }
}
