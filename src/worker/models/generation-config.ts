import { MAX_CHOICES } from '../../batching/generation/limits.ts';
import { GENERATION_OPTIONS, OPTION_DEFAULTS } from '../../batching/generation/options.ts';
import { isRecord } from '../../platform/is-record.ts';
import type { ModelInfo } from '../../protocol/models.ts';

type GenerationDefaults = ModelInfo['generationDefaults'];
type NumberOption = 'maxNewTokens' | 'temperature' | 'topK' | 'topP' | 'minP' | 'repetitionPenalty' | 'n';

/** Reads a parsed `generation_config.json`. A field of the wrong type counts as absent. */
export function readGenerationDefaults(generationConfig: unknown, contextLength: number): GenerationDefaults {
  const fields = isRecord(generationConfig) ? generationConfig : {};
  const numberOf = (name: NumberOption, fallback: number = OPTION_DEFAULTS[name]): number => {
    const value = fields[GENERATION_OPTIONS[name].generationConfig];
    return typeof value === 'number' && Number.isFinite(value) ? value : fallback;
  };
  return {
    maxNewTokens: Math.min(numberOf('maxNewTokens'), contextLength),
    temperature: fields['do_sample'] === true ? numberOf('temperature', 1) : 0,
    topK: numberOf('topK'),
    topP: numberOf('topP'),
    minP: numberOf('minP'),
    repetitionPenalty: numberOf('repetitionPenalty'),
    // The hub's format has neither of these.
    presencePenalty: OPTION_DEFAULTS.presencePenalty,
    frequencyPenalty: OPTION_DEFAULTS.frequencyPenalty,
    n: Math.min(Math.max(1, Math.floor(numberOf('n'))), MAX_CHOICES),
    stop: stopStringsOf(fields[GENERATION_OPTIONS.stop.generationConfig]),
  };
}

/** The hub allows one string or a list. */
function stopStringsOf(value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  return given.filter(
    (entry): entry is string => typeof entry === 'string' && entry !== '' && entry.isWellFormed(),
  );
}
