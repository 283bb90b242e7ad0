import type { ResponseFormat } from '../index.ts';
import { notSupported } from './dom-errors.ts';

/** The shape of an answer, and what tells the model of it. */
export interface Constraint {
  readonly format: ResponseFormat;
  /** Appended to the prompt; undefined where the page has its own. */
  readonly note: string | undefined;
}

/** Flags that don't change which whole texts a pattern matches. */
const NEUTRAL_FLAGS = /^[dguvy]*$/;

/**
 * Takes a regular expression, or a JSON Schema.
 *
 * @throws TypeError, or a DOMException named NotSupportedError, for a schema with a cycle too.
 */
export function readConstraint(constraint: unknown, isNoteOmitted: boolean): Constraint {
  if (constraint instanceof RegExp) {
    if (!NEUTRAL_FLAGS.test(constraint.flags))
      throw notSupported(
        `The flags of ${String(constraint)} aren't supported: write the pattern without them.`,
      );
    return {
      format: { type: 'regex', pattern: constraint.source },
      note: isNoteOmitted ? undefined : `Answer with a text that matches ${String(constraint)}.`,
    };
  }
  if (typeof constraint !== 'object' || constraint === null)
    throw new TypeError('`responseConstraint` has to be a JSON Schema or a RegExp.');
  const json = jsonOf(constraint);
  return {
    format: { type: 'json_schema', schema: JSON.parse(json) },
    note: isNoteOmitted ? undefined : `Answer with JSON that fits this schema: ${json}`,
  };
}

function jsonOf(schema: object): string {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    throw notSupported(`\`responseConstraint\` can't be written as JSON: ${String(error)}`);
  }
}
