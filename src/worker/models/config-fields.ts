import { isRecord } from '../platform/is-record.ts';
import { ModelFileCorruptError } from '../protocol/errors/model.ts';

type ConfigFields = Readonly<Record<string, unknown>>;

/** @throws ModelFileCorruptError where `config.json` has another value there, or none. */
export function positiveInteger(config: ConfigFields, name: string): number {
  const value = config[name];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw wrongField(name, value, 'an integer >= 1');
}

/** @throws ModelFileCorruptError where `config.json` has another value there, or none and there is no fallback. */
export function positiveNumber(config: ConfigFields, name: string, fallback?: number): number {
  const value = config[name] ?? fallback;
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  throw wrongField(name, value, 'a number > 0');
}

/** `eos_token_id`, one id or a list. As in huggingface/transformers, `generation_config.json` goes before `config.json`. */
export function readEosTokenIds(config: ConfigFields, generationConfig: unknown): readonly number[] {
  const fields = isRecord(generationConfig) ? generationConfig : {};
  const value = fields['eos_token_id'] ?? config['eos_token_id'];
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  return ids.filter((id): id is number => Number.isSafeInteger(id));
}

function wrongField(name: string, value: unknown, expected: string): ModelFileCorruptError {
  return ModelFileCorruptError.of(
    'config.json',
    `\`${name}\` is ${JSON.stringify(value)}, expected ${expected}`,
  );
}
