import type { GenerationOptions, ModelInfo } from '../index.ts';
import type { LanguageModelParams, LanguageModelSamplingMode } from './types.ts';

/** How a session samples its tokens: a mode, or the parameters themselves. */
export type Sampling =
  | { readonly mode: LanguageModelSamplingMode }
  | { readonly mode: null; readonly temperature: number | undefined; readonly topK: number | undefined };

/** Multiplies the model's own temperature. */
const TEMPERATURE_SCALES: Readonly<Record<LanguageModelSamplingMode, number>> = {
  'most-predictable': 0,
  predictable: 0.5,
  balanced: 1,
  creative: 1.25,
  'most-creative': 1.5,
};

/** For a model that has no temperature, or 0. */
const DEFAULT_TEMPERATURE = 0.8;

const MAX_TEMPERATURE = 2;

export interface SamplingParameters {
  readonly temperature: number;
  /** At least 1, and all tokens at most. */
  readonly topK: number;
}

/** The parameters of the session's mode, or the given ones, within the model's limits. */
export function samplingParameters(sampling: Sampling, model: ModelInfo): SamplingParameters {
  const { defaultTopK, maxTopK, defaultTemperature, maxTemperature } = samplingParams(model);
  if (sampling.mode !== null)
    return { temperature: defaultTemperature * TEMPERATURE_SCALES[sampling.mode], topK: defaultTopK };
  const { temperature = defaultTemperature, topK = defaultTopK } = sampling;
  return { temperature: Math.min(temperature, maxTemperature), topK: Math.min(Math.floor(topK), maxTopK) };
}

export function samplingOptions(
  { temperature, topK }: SamplingParameters,
  { vocabSize }: ModelInfo,
): Pick<GenerationOptions, 'temperature' | 'topK'> {
  // The worker takes 0 for all tokens, and then does not search for the likeliest ones.
  return { temperature, topK: topK === vocabSize ? 0 : topK };
}

export function samplingParams({ generationDefaults, vocabSize }: ModelInfo): LanguageModelParams {
  const { temperature } = generationDefaults;
  return {
    // Ours is 0 for all tokens.
    defaultTopK: generationDefaults.topK || vocabSize,
    maxTopK: vocabSize,
    defaultTemperature: temperature > 0 ? temperature : DEFAULT_TEMPERATURE,
    maxTemperature: MAX_TEMPERATURE,
  };
}
