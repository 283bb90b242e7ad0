import { describeHouse } from './house-features.ts';
import { formatCount, formatEuros, formatJson } from '../../parts/format.ts';
import { MAX_KEPT_ANSWERS } from '../../state/request-view.ts';

/** A longer answer is cut: a million characters take seconds to lay out. */
const MAX_SHOWN_LENGTH = 20_000;

export function describeInput(deployment: string, input: unknown): string {
  return deployment === 'house-price' && isNumberList(input) ? describeHouse(input) : formatJson(input);
}

export function describeResult(deployment: string, result: unknown): string {
  if (deployment === 'house-price' && typeof result === 'number') return formatEuros(result);
  const text = formatAnswer(result);
  if (text.length <= MAX_SHOWN_LENGTH) return text;
  return `${text.slice(0, MAX_SHOWN_LENGTH)}… (the first ${formatCount(MAX_SHOWN_LENGTH)} of ${formatCount(text.length)} characters)`;
}

/** Says where the list is too short for all that have settled. */
export function describeCounts(numSettled: number, numWaiting: number): string {
  const settled = `${numSettled < MAX_KEPT_ANSWERS ? '' : 'newest '}${formatCount(numSettled)} settled`;
  return numWaiting === 0 ? settled : `${settled}, ${formatCount(numWaiting)} waiting`;
}

/** As JSON, and as JavaScript writes it where JSON has no form: it makes null of NaN, and {} of a Map. */
function formatAnswer(value: unknown): string {
  try {
    return inspect(value);
  } catch {
    // It contains itself.
    return Object.prototype.toString.call(value);
  }
}

function inspect(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value);
  if (typeof value !== 'object' || value === null || value instanceof Date) return formatJson(value);
  if (Array.isArray(value)) return listOf(value);
  if (value instanceof Map) return `Map ${listOf([...value])}`;
  if (value instanceof Set) return `Set ${listOf([...value])}`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return `${kindOf(value)} ${listOf(Object.values(value))}`;
  if (kindOf(value) !== 'Object') return Object.prototype.toString.call(value);
  return `{${Object.entries(value)
    .map(([key, part]) => `${JSON.stringify(key)}:${inspect(part)}`)
    .join(',')}}`;
}

function listOf(values: readonly unknown[]): string {
  return `[${Array.from(values, inspect).join(',')}]`;
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function isNumberList(input: unknown): input is readonly number[] {
  return Array.isArray(input) && input.every((value) => typeof value === 'number');
}
