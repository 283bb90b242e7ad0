import { MAX_CHOICES } from '../../batching/generation/limits.ts';
import { MODEL_OPTION_NAMES, optionOf } from '../../batching/generation/options.ts';
import { fromNames } from '../../batching/records.ts';
import { isRecord } from '../../platform/is-record.ts';
import type { GenerationDefaults } from '../../protocol/models.ts';

/** Reads a parsed `generation_config.json`. A field of the wrong type counts as absent. */
export function readGenerationDefaults(generationConfig: unknown, contextLength: number): GenerationDefaults {
  const fields = isRecord(generationConfig) ? generationConfig : {};
  const defaults = fromNames<GenerationDefaults>(MODEL_OPTION_NAMES, (name) => {
    const { type, generationConfig: key, default: own } = optionOf(name);
    const value = fields[key ?? ''];
    return type === 'strings' ? stringsOf(value) : numberOf(value, own);
  });
  return {
    ...defaults,
    maxNewTokens: Math.min(defaults.maxNewTokens, contextLength),
    temperature: fields['do_sample'] === true ? numberOf(fields['temperature'], 1) : 0,
    n: Math.min(Math.max(1, Math.floor(defaults.n)), MAX_CHOICES),
  };
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
