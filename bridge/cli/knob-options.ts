import { InvalidOptionError } from '../../src/batching/base/errors.ts';
import { KNOBS } from '../../src/batching/generation/policy.ts';
import { keysOf } from '../../src/batching/base/records.ts';
import { parseOptions } from '../../src/batching/base/parse-options.ts';
import { parseDecimal } from '../../src/batching/base/validate.ts';
import { DEFAULT_POLICY, type BatchingPolicy } from '../../src/protocol/status.ts';
import { BridgeError } from '../base/errors.ts';

/** The option of each knob: `maxBatchSize` is `--max-batch-size`. */
const OPTION_OF_KNOB = new Map(
  keysOf(KNOBS).map((knob) => [knob, knob.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)]),
);

/** For `parseArgs`. */
export const KNOB_OPTIONS: Readonly<Record<string, { readonly type: 'string' }>> = Object.fromEntries(
  [...OPTION_OF_KNOB.values()].map((option) => [option, { type: 'string' }]),
);

const OPTION_WIDTH = Math.max(...[...OPTION_OF_KNOB.values()].map(({ length }) => length));

/** A line for each option. */
export const KNOB_USAGE = [...OPTION_OF_KNOB]
  .map(
    ([knob, option]) =>
      `  --${option.padEnd(OPTION_WIDTH)}  ${KNOBS[knob].expected} (default ${DEFAULT_POLICY[knob]})`,
  )
  .join('\n');

/** @throws BridgeError for a value that the knob doesn't take. */
export function parseKnobs(texts: Readonly<Record<string, unknown>>): Partial<BatchingPolicy> {
  const given = [...OPTION_OF_KNOB].flatMap(([knob, option]) => {
    const text = texts[option];
    return typeof text === 'string' ? [[knob, valueOf(text)] as const] : [];
  });
  try {
    return parseOptions('knobs', KNOBS, Object.fromEntries(given));
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    const [, option = ''] = [...OPTION_OF_KNOB].find(([knob]) => knob === error.param) ?? [];
    const message = error.message.replace(`\`${error.param}\``, `\`--${option}\``);
    throw new BridgeError('INVALID_ARGUMENT', message, error);
  }
}

/** The number or the truth value that the text spells, or else the text. */
function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return Number.isNaN(parseDecimal(text)) ? text : parseDecimal(text);
}
