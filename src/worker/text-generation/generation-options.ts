import { InvalidOptionError } from '../../batching/errors.ts';
import { logitBiasWithin } from '../../batching/sampling/logit-bias.ts';
import {
  PRIORITY_VALIDATOR,
  SAMPLING_VALIDATORS,
  type SamplingParams,
} from '../../batching/generation/request.ts';
import {
  finiteIn,
  integerIn,
  isBoolean,
  parseOptions,
  type Validate,
} from '../../batching/generation/validate.ts';
import { isRecord } from '../platform/is-record.ts';
import { MAX_CHOICES, type GenerationOptions, type ModelInfo } from '../protocol/protocol.ts';
import { randomSeed } from '../platform/random-seed.ts';
import { stopStrings } from './stop-strings.ts';

/** What ends a text, besides its length. */
export interface EndOptions {
  /** The text ends with the first of these. */
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  /** Whether what stops the text is its end, or the text ends before it. */
  readonly includeStopStrInOutput: boolean;
  /** Tokens before which nothing of this ends the text. */
  readonly minTokens: number;
  readonly ignoreEos: boolean;
}

/** What a request runs with: its own options over the model's defaults. */
export interface ResolvedOptions {
  readonly maxNewTokens: number;
  readonly ending: EndOptions;
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
 * out is chosen here, and any other is taken modulo 2^32.
 *
 * @throws UnknownOptionError, InvalidOptionError naming the option.
 */
export function resolveOptions(
  options: unknown,
  { generationDefaults, contextLength, vocabSize }: ModelInfo,
): ResolvedOptions {
  const { numLogprobs: logprobsValidator, seed: _uint32, ...samplingValidators } = SAMPLING_VALIDATORS;
  const validators = {
    maxNewTokens: integerIn({ from: 0, to: contextLength }),
    ...samplingValidators,
    logitBias: logitBiasWithin(vocabSize),
    seed: integerIn({}),
    logprobs: logprobsValidator,
    promptLogprobs: logprobsValidator,
    stop: stopStrings,
    stopTokenIds: tokenIdsWithin(vocabSize),
    includeStopStrInOutput: isBoolean,
    ignoreEos: isBoolean,
    minTokens: integerIn({ from: 0 }),
    n: integerIn({ from: 1, to: MAX_CHOICES }),
    echo: isBoolean,
    priority: PRIORITY_VALIDATOR,
    timeoutMs,
  };
  const given = parseOptions<CheckedOptions>('options', validators, withoutUndefined(options));
  const {
    maxNewTokens,
    stop,
    stopTokenIds = [],
    includeStopStrInOutput = false,
    ignoreEos = false,
    minTokens = 0,
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
  integerIn({ to: maxNewTokens })('minTokens', minTokens);
  return {
    maxNewTokens,
    ending: { stop, stopTokenIds, includeStopStrInOutput, ignoreEos, minTokens },
    n,
    echo,
    priority,
    promptLogprobs,
    sampling: { ...rest, logitBias, numLogprobs, seed: toUint32(seed) },
  };
}

const timeoutMs = finiteIn({ above: 0 });

/** Enough for a family of tokens; each costs a little with every token that is sampled. */
const MAX_STOP_TOKENS = 300;

function tokenIdsWithin(vocabSize: number): Validate<readonly number[]> {
  const isTokenId = integerIn({ from: 0, to: vocabSize - 1 });
  return (option, value) => {
    if (!Array.isArray(value) || value.length > MAX_STOP_TOKENS)
      throw InvalidOptionError.of(option, `a list of at most ${MAX_STOP_TOKENS} token ids`, value);
    return value.map((tokenId, index) => isTokenId(`${option}[${index}]`, tokenId));
  };
}

/** Exact for any integer that a number holds; of those in range each is itself. */
function toUint32(value: number): number {
  return ((value % 2 ** 32) + 2 ** 32) % 2 ** 32;
}

type CheckedOptions = Omit<GenerationOptions, 'stop'> & { readonly stop?: readonly string[] };

/** An option set to undefined counts as left out, as in a default parameter. */
function withoutUndefined(options: unknown): unknown {
  if (!isRecord(options)) return options;
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
