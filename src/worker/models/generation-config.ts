import { isRecord } from '../platform/is-record.ts';
import { MAX_CHOICES, type ModelInfo } from '../protocol/protocol.ts';

type GenerationDefaults = ModelInfo['generationDefaults'];

/** Where `generation_config.json` says nothing. */
const DEFAULT_MAX_NEW_TOKENS = 64;

/** Reads a parsed `generation_config.json`. A field of the wrong type counts as absent. */
export function readGenerationDefaults(generationConfig: unknown, contextLength: number): GenerationDefaults {
  const fields = isRecord(generationConfig) ? generationConfig : {};
  const numberOr = (name: string, fallback: number): number => {
    const value = fields[name];
    return typeof value === 'number' && Number.isFinite(value) ? value : fallback;
  };
  return {
    maxNewTokens: Math.min(numberOr('max_new_tokens', DEFAULT_MAX_NEW_TOKENS), contextLength),
    temperature: fields['do_sample'] === true ? numberOr('temperature', 1) : 0,
    topK: numberOr('top_k', 0),
    topP: numberOr('top_p', 1),
    minP: numberOr('min_p', 0),
    repetitionPenalty: numberOr('repetition_penalty', 1),
    // The hub's format has neither of these.
    presencePenalty: 0,
    frequencyPenalty: 0,
    n: Math.min(Math.max(1, Math.floor(numberOr('num_return_sequences', 1))), MAX_CHOICES),
    stop: stopStringsOf(fields['stop_strings']),
  };
}

/** The hub allows one string or a list. */
function stopStringsOf(value: unknown): readonly string[] {
  const given: readonly unknown[] = Array.isArray(value) ? value : [value];
  return given.filter(
    (entry): entry is string => typeof entry === 'string' && entry !== '' && entry.isWellFormed(),
  );
}
