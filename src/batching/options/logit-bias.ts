import { finiteIn, validator, type Validate } from '../base/validate.ts';
import { isRecord } from '../base/validate-compound.ts';
import { LOGIT_BIAS_LIMITS } from './limits.ts';

/** Token id -> what is added to its logit. */
export type LogitBias = Readonly<Record<string, number>>;

/** Biases for tokens that a vocabulary of this size has. */
export function logitBiasWithin(vocabSize: number): Validate<LogitBias> {
  const { maxItems, from, to } = LOGIT_BIAS_LIMITS;
  const checkBias = finiteIn({ from, to });
  const expected =
    `a record of at most ${maxItems} biases from ${from} to ${to} by token id` +
    (vocabSize === Infinity ? '' : ` below ${vocabSize}`);
  return validator(expected, (value, refuse, option) => {
    if (!isRecord(value)) throw refuse(value);
    const entries = Object.entries(value);
    if (entries.length > maxItems) throw refuse(`${entries.length} entries`);
    return Object.fromEntries(
      entries.map(([key, bias]) => {
        if (!isTokenId(key, vocabSize)) throw refuse(`token id ${key}`);
        return [key, checkBias(`${option}[${key}]`, bias)];
      }),
    );
  });
}

function isTokenId(key: string, vocabSize: number): boolean {
  const id = Number(key);
  // The text is compared too: `1e3`, ` 7` and `07` are numbers, but not ids.
  return Number.isInteger(id) && id >= 0 && id < vocabSize && String(id) === key;
}
