import { InvalidOptionError } from '../errors.ts';
import { finiteIn, type Validate } from '../generation/validate.ts';

/** Token id -> what is added to its logit: a plain record, so that it can be sent anywhere. */
export type LogitBias = Readonly<Record<string, number>>;

/** Enough to ban or favour whole families of tokens; each entry costs the CPU a little in every step. */
const MAX_ENTRIES = 300;

const bias = finiteIn({ from: -100, to: 100 });

/** At most 300 biases in -100..100, each for a token that a vocabulary of this size has. */
export function logitBiasWithin(vocabSize: number): Validate<LogitBias> {
  const expected =
    `a record of at most ${MAX_ENTRIES} biases from -100 to 100 by token id` +
    (vocabSize === Infinity ? '' : ` below ${vocabSize}`);
  return (option, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw InvalidOptionError.of(option, expected, value);
    }
    const entries = Object.entries(value);
    if (entries.length > MAX_ENTRIES)
      throw InvalidOptionError.of(option, expected, `${entries.length} entries`);
    for (const [key, entry] of entries) {
      if (!isTokenId(key, vocabSize)) throw InvalidOptionError.of(option, expected, `token id ${key}`);
      bias(`${option}[${key}]`, entry);
    }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each entry has passed
    return value as LogitBias;
  };
}

function isTokenId(key: string, vocabSize: number): boolean {
  const id = Number(key);
  // Compared as text too: `1e3`, ` 7` and `07` are numbers, but no ids.
  return Number.isInteger(id) && id >= 0 && id < vocabSize && String(id) === key;
}
