import { writeFileSync } from 'node:fs';

import { everydaySchemas, formatOf, randomAnswer } from '../../../src/worker/testing/random-answers.ts';
import { loadShapedModel } from '../../../src/worker/text-generation/shapes/test-support.ts';
import { ResponseFormatUnsupportedError } from '../../../src/batching/errors.ts';

// Writes answers to the schemas of everyday types, of random tokens: `write-answers.ts TARGET [SEED]`. Refused schemas have null.

const NUM_ANSWERS = 12;

const [target = 'answers.json', seed = String(Date.now() % 2 ** 31)] = process.argv.slice(2);
const model = await loadShapedModel();
const answered = [];
for (const schema of everydaySchemas()) answered.push({ ...schema, answers: await answersTo(schema) });
writeFileSync(target, JSON.stringify({ seed: Number(seed), answered }));

async function answersTo(
  schema: ReturnType<typeof everydaySchemas>[number],
): Promise<readonly string[] | null> {
  const answers: string[] = [];
  try {
    for (let index = 0; index < NUM_ANSWERS; index += 1) {
      const answer = await randomAnswer(model, formatOf(schema), Number(seed) + index);
      if (answer !== undefined) answers.push(answer);
    }
  } catch (error) {
    if (error instanceof ResponseFormatUnsupportedError) return null;
    throw error;
  }
  return answers;
}
