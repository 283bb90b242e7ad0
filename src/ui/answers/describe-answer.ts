import { describeHouse } from '../deployments/house-features.ts';
import { formatEuros, formatJson } from '../format.ts';

interface AnswerTexts {
  readonly input: (input: unknown) => string;
  readonly result: (result: unknown) => string;
}

const AS_JSON: AnswerTexts = { input: formatJson, result: formatJson };

const TEXTS: Readonly<Record<string, AnswerTexts>> = {
  'house-price': {
    input: (input) => (isNumberList(input) ? describeHouse(input) : formatJson(input)),
    result: (result) => (typeof result === 'number' ? formatEuros(result) : formatJson(result)),
  },
};

export function describeInput(deployment: string, input: unknown): string {
  return (TEXTS[deployment] ?? AS_JSON).input(input);
}

export function describeResult(deployment: string, result: unknown): string {
  return (TEXTS[deployment] ?? AS_JSON).result(result);
}

function isNumberList(input: unknown): input is readonly number[] {
  return Array.isArray(input) && input.every((value) => typeof value === 'number');
}
