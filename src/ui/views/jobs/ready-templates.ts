import { readCells, textOfCell } from '../../../client/index.ts';
import type { TypedShape } from '../../state/typed-shape.ts';

export interface ReadyTemplate {
  readonly title: string;
  readonly system: string;
  /** For the column that holds the text. */
  readonly templateFor: (column: string) => string;
  readonly shape: TypedShape;
}

export const READY_TEMPLATES: readonly ReadyTemplate[] = [
  {
    title: 'Classify',
    system: 'You classify texts. Answer with the category alone.',
    templateFor: (column) => `Text: {{${column}}}\n\nThe sentiment of this text is`,
    shape: { kind: 'choice', body: ' positive\n neutral\n negative' },
  },
  {
    title: 'Extract',
    system: 'You extract facts from texts. Answer with JSON alone.',
    templateFor: (column) =>
      `Text: {{${column}}}\n\nThe product and the problem, if there is one, as JSON:\n`,
    shape: {
      kind: 'json_schema',
      body: JSON.stringify(
        {
          type: 'object',
          properties: {
            product: { type: 'string', maxLength: 40 },
            problem: { anyOf: [{ type: 'string', maxLength: 80 }, { type: 'null' }] },
          },
          required: ['product', 'problem'],
          additionalProperties: false,
        },
        undefined,
        2,
      ),
    },
  },
  {
    title: 'Summarize',
    system: 'You summarize texts in one short sentence.',
    templateFor: (column) => `Text: {{${column}}}\n\nSummary in one sentence:`,
    shape: { kind: '', body: '' },
  },
];

/** The column with the longest text in the first rows. */
export function textColumnOf(head: readonly string[]): string {
  const lengths = new Map<string, number>();
  for (const row of head)
    for (const [column, cell] of readCells(row) ?? [])
      lengths.set(column, (lengths.get(column) ?? 0) + textOfCell(cell).length);
  const [longest] = [...lengths].toSorted(([, a], [, b]) => b - a);
  return longest?.[0] ?? 'text';
}
