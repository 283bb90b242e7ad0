import { describeHouse } from './house-features.ts';
import { formatEuros, formatJson } from '../../parts/format.ts';

export function describeInput(deployment: string, input: unknown): string {
  return deployment === 'house-price' && isNumberList(input) ? describeHouse(input) : formatJson(input);
}

export function describeResult(deployment: string, result: unknown): string {
  return deployment === 'house-price' && typeof result === 'number'
    ? formatEuros(result)
    : formatJson(result);
}

function isNumberList(input: unknown): input is readonly number[] {
  return Array.isArray(input) && input.every((value) => typeof value === 'number');
}
