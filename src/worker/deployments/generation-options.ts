import { logitBiasWithin } from '../../batching/generation/logit-bias.ts';
import {
  PRIORITY_VALIDATOR,
  SAMPLING_VALIDATORS,
  type SamplingParams,
} from '../../batching/generation/request.ts';
import { finiteIn, integerIn, isBoolean, parseOptions } from '../../batching/generation/validate.ts';
import { isRecord } from '../is-record.ts';
import { MAX_CHOICES, type GenerationOptions, type ModelInfo } from '../protocol.ts';
import { randomSeed } from '../random-seed.ts';
import { stopStrings } from './stop-strings.ts';

/** What a request runs with: its own options over the model's defaults. */
export interface ResolvedOptions {
  readonly maxNewTokens: number;
  /** The text ends before the first of these. */
  readonly stop: readonly string[];
  /** How many continuations. */
  readonly n: number;
  /** The stream begins with the prompt. */
  readonly echo: boolean;
  readonly priority: number;
  /** Of the likeliest in the place of each prompt token; undefined = the prompt is not scored. */
  readonly promptLogprobs: number | undefined;
  readonly sampling: SamplingParams;
}

/** Undefined where there is none, or a bad one: `resolveOptions` tells which. */
export function timeoutMsOf(options: unknown): number | undefined {
  if (!isRecord(options)) return undefined;
  try {
    return timeoutMs('timeoutMs', options['timeoutMs']);
  } catch {
    return undefined;
  }
}

/**
 * Checks the options of a request as they came over the wire and fills in the model's defaults; a seed that is left
 * out is chosen here.
 *
 * @throws UnknownOptionError, InvalidOptionError naming the option.
 */
export function resolveOptions(
  options: unknown,
  { generationDefaults, contextLength, vocabSize }: ModelInfo,
): ResolvedOptions {
  const { numLogprobs: logprobsValidator, ...samplingValidators } = SAMPLING_VALIDATORS;
  const validators = {
    maxNewTokens: integerIn({ from: 0, to: contextLength }),
    ...samplingValidators,
    logitBias: logitBiasWithin(vocabSize),
    logprobs: logprobsValidator,
    promptLogprobs: logprobsValidator,
    stop: stopStrings,
    n: integerIn({ from: 1, to: MAX_CHOICES }),
    echo: isBoolean,
    priority: PRIORITY_VALIDATOR,
    timeoutMs,
  };
  const given = parseOptions<CheckedOptions>('options', validators, withoutUndefined(options));
  const {
    maxNewTokens,
    stop,
    n,
    echo = false,
    priority = 0,
    seed = randomSeed(),
    logitBias = {},
    logprobs: numLogprobs,
    promptLogprobs,
    // Of the deployment's concern: it counts while the model loads, too.
    timeoutMs: _timeoutMs,
    ...rest
  } = { ...generationDefaults, ...given };
  return {
    maxNewTokens,
    stop,
    n,
    echo,
    priority,
    promptLogprobs,
    sampling: { ...rest, logitBias, numLogprobs, seed },
  };
}

const timeoutMs = finiteIn({ above: 0 });

type CheckedOptions = Omit<GenerationOptions, 'stop'> & { readonly stop?: readonly string[] };

/** An option set to undefined counts as left out, as in a default parameter. */
function withoutUndefined(options: unknown): unknown {
  if (!isRecord(options)) return options;
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
