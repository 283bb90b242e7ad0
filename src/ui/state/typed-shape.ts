import { parseTypedJson } from '../parts/typed-json.ts';

/** A shape of answers as the form holds it. */
export interface TypedShape {
  /** A type of response format, or '' for any text. */
  readonly kind: string;
  /** The choices, one on each line, or the JSON Schema. */
  readonly body: string;
}

/** The typed text of an option holds both: the kind on its first line, the body below. */
export function readShape(text: string): TypedShape {
  const [kind = '', ...lines] = text.split('\n');
  return { kind, body: lines.join('\n') };
}

export function writeShape({ kind, body }: TypedShape): string {
  return body === '' ? kind : `${kind}\n${body}`;
}

/** Each once. A space at the beginning of a choice counts: most tokens of words begin with one. */
export function choicesOf(body: string): readonly string[] {
  return [...new Set(body.split('\n').filter((line) => line.trim() !== ''))];
}

export function hasChoices(text = ''): boolean {
  return readShape(text).kind === 'choice';
}

/** The response format of a typed shape, unchecked. @throws Error that tells the user what to write. */
export function formatOf(text: string): unknown {
  const { kind: type, body } = readShape(text);
  if (type === 'choice') return { type, choices: choicesRequired(body) };
  return type === 'json_schema' ? { type, schema: schemaOf(body) } : { type };
}

function choicesRequired(body: string): readonly string[] {
  const choices = choicesOf(body);
  if (choices.length === 0) throw new Error('There is no choice. Write each on a line of its own.');
  return choices;
}

function schemaOf(body: string): unknown {
  if (body.trim() === '') throw new Error('There is no schema. Write one, such as {"type": "object"}.');
  return parseTypedJson(body, 'The schema');
}
