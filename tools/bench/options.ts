import { parseArgs } from 'node:util';

import type { BenchCase, Choices, Chosen } from './bench-case.ts';

const USAGE = `\
  --short           few and small measurements, to see that the case works; records nothing
  --rounds N        times that each row is measured, interleaved
  --only TEXT       only rows whose caption or labels contain the text; records nothing
  --args=ARGUMENTS  further arguments of the browser, separated by spaces; CHROME_PATH says which one it is`;

const BESIDE = '  --beside COMMIT   measures the page of another commit too, row by row; records nothing';

/** Options of which each case says the values. */
const NAMES = ['backend', 'model', 'precision'] as const satisfies readonly (keyof Choices)[];

export function usageOf({ choices = {}, hasVersions }: BenchCase): string {
  const own = NAMES.flatMap((name) => {
    const values = choices[name];
    return values ? [`  --${name} NAME`.padEnd(20) + `${values.join(', ')} (default ${values[0]})`] : [];
  });
  return [...own, ...(hasVersions ? [BESIDE] : []), USAGE].join('\n');
}

export function parseOptions(
  { rounds, choices = {}, hasVersions }: BenchCase,
  args: readonly string[],
): Chosen {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: 'boolean', default: false },
      rounds: text,
      only: text,
      beside: text,
      args: { type: 'string', default: '' },
      backend: text,
      model: text,
      precision: text,
    },
  });
  if (values.beside !== undefined && !hasVersions)
    throw new Error('This case measures no page: leave --beside out.');
  return {
    isShort: values.short,
    rounds: values.rounds === undefined ? (values.short ? 1 : rounds) : parseCount(values.rounds),
    backend: chooseOf('backend', values.backend, choices.backend) ?? 'wasm',
    model: chooseOf('model', values.model, choices.model) ?? '',
    precision: chooseOf('precision', values.precision, choices.precision) ?? 'fp32',
    only: values.only,
    beside: values.beside,
    browserArgs: values.args.split(' ').filter((argument) => argument !== ''),
  };
}

/** The first of the allowed ones if the option is left out. */
function chooseOf<Value extends string>(
  name: string,
  text: string | undefined,
  allowed: readonly Value[] = [],
): Value | undefined {
  if (text === undefined) return allowed[0];
  const value = allowed.find((each) => each === text);
  if (value !== undefined) return value;
  const expected = allowed.length > 0 ? `Expected ${allowed.join(' or ')}` : 'This case has no such option';
  throw new Error(`${expected}, got \`--${name} ${text}\``);
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1) return count;
  throw new Error(`Expected \`--rounds\` to be an integer >= 1, got \`${text}\``);
}
