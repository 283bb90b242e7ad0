import { MAX_CHOICES } from '../../batching/options/limits.ts';
import { MODEL_OPTION_NAMES, optionOf, type OptionName } from '../../batching/options/generation-options.ts';
import { OPTION_CHECKS } from '../../batching/options/option-checks.ts';
import { fromNames } from '../../batching/base/records.ts';
import { isRecord } from '../../platform/is-record.ts';
import type { GenerationDefaults } from '../../protocol/models.ts';

/** Reads a parsed `generation_config.json`. A field of the wrong type or out of range counts as absent: -1 for `top_k`. */
export function readGenerationDefaults(generationConfig: unknown, contextLength: number): GenerationDefaults {
  const fields = isRecord(generationConfig) ? generationConfig : {};
  const defaults = fromNames<GenerationDefaults>(MODEL_OPTION_NAMES, (name) => {
    const { type, generationConfig: key, default: own } = optionOf(name);
    const value = fields[key ?? ''];
    if (type === 'strings') return stringsOf(value);
    return name === 'n' || isInRange(name, value) ? numberOf(value, own) : own;
  });
  return {
    ...defaults,
    maxNewTokens: Math.min(defaults.maxNewTokens, contextLength),
    temperature: fields['do_sample'] === true ? temperatureOf(fields['temperature']) : 0,
    n: Math.min(Math.max(1, Math.floor(defaults.n)), MAX_CHOICES),
  };
}

function temperatureOf(value: unknown): number {
  return isInRange('temperature', value) ? numberOf(value, 1) : 1;
}

function isInRange(name: OptionName, value: unknown): boolean {
  try {
    OPTION_CHECKS[name](name, value);
    return true;
  } catch {
    return false;
  }
}

function numberOf<Fallback>(value: unknown, fallback: Fallback): number | Fallback {
  return typeof value === 'number' && Number.isFinite(value) ? value : fallback;
}

/** The hub allows one string or a list. */
function stringsOf(value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  return given.filter(
    (entry): entry is string => typeof entry === 'string' && entry !== '' && entry.isWellFormed(),
  );
}
