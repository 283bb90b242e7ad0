import { parseArgs, type ParseArgsConfig } from 'node:util';

import { describeKnown } from '../../src/batching/base/nearest-name.ts';

/** What is wrong with arguments that Node's parser refuses, in words of ours. */
export function argumentFault(
  args: readonly string[],
  options: NonNullable<ParseArgsConfig['options']>,
): string {
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === 'positional') return `Expected options alone, got \`${token.value}\`.`;
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    const type = Object.hasOwn(options, name) ? options[name]?.type : undefined;
    if (type === undefined) {
      const known = Object.keys(options).map((option) => `--${option}`);
      return `Unknown option \`${rawName}\`: ${describeKnown(rawName, known, 'the list below')}.`;
    }
    if (type === 'boolean' && value !== undefined)
      return `Expected \`${rawName}\` without a value, got \`${value}\`.`;
    if (type === 'string' && (value === undefined || (value.startsWith('-') && !inlineValue)))
      return `Expected \`${rawName}\` to have a value, as \`${rawName}=${value ?? 'VALUE'}\`.`;
  }
  return "The arguments can't be read.";
}
