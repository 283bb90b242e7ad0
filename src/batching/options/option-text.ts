import { parseDecimal } from '../base/validate.ts';
import type { GenerationOption } from './option-table.ts';
import { checkOf } from './option-checks.ts';

/**
 * The value of an option that is typed into a form or a query; undefined where the text is not of its type.
 *
 * @param parse Reads JSON.
 * @internal
 */
export function optionFromText(
  { type }: GenerationOption,
  text: string,
  parse: (json: string) => unknown = JSON.parse,
): unknown {
  switch (type) {
    case 'integer':
    case 'number':
      return numberFrom(text);
    case 'integer-or-boolean':
      return booleanFrom(text) ?? numberFrom(text);
    case 'boolean':
      return booleanFrom(text);
    case 'strings':
      return text;
    case 'token-ids': {
      const tokenIds = text.split(',').map(numberFrom);
      return tokenIds.includes(undefined) ? undefined : tokenIds;
    }
    case 'logit-bias':
      return logitBiasFrom(text);
    case 'json-record':
    case 'response-format':
    case 'tools':
      return jsonFrom(text, parse);
    case 'tool-choice':
      return text.startsWith('{') ? jsonFrom(text, parse) : text;
  }
}

/**
 * The form of an option's text, as in "Expected `x` to be …".
 *
 * @internal
 */
export function expectedText(option: GenerationOption): string {
  if (option.type === 'strings') return `a text of 1 to ${option.maxLength} characters`;
  if (option.type === 'token-ids') return 'token ids, like 262,13';
  if (option.type === 'logit-bias')
    return `distinct token ids with a number from ${option.from} to ${option.to} each, like 262:-100,13:2.5`;
  return checkOf(option).expected;
}

/**
 * A default as the form and the docs show it.
 *
 * @internal
 */
export function defaultText(value: unknown): string {
  if (Array.isArray(value) && value.length > 0) return value.join(' or ');
  const isPlain = typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string';
  return isPlain ? String(value) : 'none';
}

function booleanFrom(text: string): boolean | undefined {
  return text === 'true' || (text === 'false' ? false : undefined);
}

function numberFrom(text: string): number | undefined {
  const number = parseDecimal(text);
  return Number.isFinite(number) ? number : undefined;
}

function jsonFrom(text: string, parse: (json: string) => unknown): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function logitBiasFrom(text: string): Readonly<Record<string, number>> | undefined {
  const entries = text.split(',').filter((entry) => entry.trim() !== '');
  const biases = entries.map((entry) => /^\s*(\d+)\s*:\s*(-?\d+(?:\.\d+)?)\s*$/.exec(entry));
  if (biases.includes(null)) return undefined;
  const record = Object.fromEntries(biases.map((match) => [match?.[1], Number(match?.[2])]));
  return Object.keys(record).length < biases.length ? undefined : record;
}
