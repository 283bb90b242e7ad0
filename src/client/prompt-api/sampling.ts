import type { GenerationOptions, ModelInfo } from '../index.ts';
import type { LanguageModelParams, LanguageModelSamplingMode } from './types.ts';

type GenerationDefaults = ModelInfo['generationDefaults'];

/** How a session samples: a mode, or the parameters themselves. */
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

/** For a model whose own temperature is 0. */
const DEFAULT_TEMPERATURE = 0.8;

const MAX_TEMPERATURE = 2;

export interface SamplingParameters {
  readonly temperature: number;
  /** At least 1. At most the size of the vocabulary. */
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
  // 0 means all tokens. The worker then skips the search for the likeliest ones.
  return { temperature, topK: topK === vocabSize ? 0 : topK };
}

export function samplingParams({ generationDefaults, vocabSize }: ModelInfo): LanguageModelParams {
  return {
    // Tabserve's 0 means all tokens.
    defaultTopK: generationDefaults.topK || vocabSize,
    maxTopK: vocabSize,
    defaultTemperature: temperatureOf(generationDefaults),
    maxTemperature: MAX_TEMPERATURE,
  };
}

function temperatureOf({ temperature }: GenerationDefaults): number {
  return temperature > 0 ? temperature : DEFAULT_TEMPERATURE;
}
