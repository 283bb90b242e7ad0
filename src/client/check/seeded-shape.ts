import type { ResponseFormat } from '../../protocol/generation.ts';
import type { Verdict } from './compare-texts.ts';

const KINDS = ['cat', 'dog', 'bird'];
const LARGEST_AGE = 20;

/** Small enough for any model's answer to be whole. */
export const SHAPE: ResponseFormat = {
  type: 'json_schema',
  schema: {
    type: 'object',
    properties: { kind: { enum: KINDS }, age: { type: 'integer', minimum: 1, maximum: LARGEST_AGE } },
    required: ['kind', 'age'],
    additionalProperties: false,
  },
};

/** Whether the answer has the shape. */
function hasShape(answer: string): boolean {
  try {
    const value: unknown = JSON.parse(answer);
    if (typeof value !== 'object' || value === null) return false;
    if (!('kind' in value && 'age' in value) || Object.keys(value).length !== 2) return false;
    const { kind, age } = value;
    const isKind = KINDS.some((name) => name === kind);
    return isKind && typeof age === 'number' && Number.isInteger(age) && age >= 1 && age <= LARGEST_AGE;
  } catch {
    return false;
  }
}

export function judgeShapes(answers: readonly string[]): Verdict {
  const numRight = answers.filter(hasShape).length;
  return {
    outcome: numRight === answers.length ? 'right' : 'wrong',
    detail: `${numRight} of ${answers.length} answers fit their JSON Schema.`,
  };
}
