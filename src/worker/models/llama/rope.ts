import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { positiveNumber, readBoolean, readFields, type Fields } from '../config-fields.ts';
import type { Rope } from '../program/rope.ts';

interface RopeDefaults {
  /** Values of a head. */
  readonly headSize: number;
  /** The base of the frequencies, where the parameters have none. */
  readonly theta: number;
  /** The longest sequence that the model allows, in tokens. */
  readonly contextLength: number;
  /** Whether heads may turn in part, by `partial_rotary_factor`. */
  readonly canTurnPart?: true;
  /** Whether LongRoPE is the only scaling, as for Phi, whose first configurations call it `su` or `yarn`. */
  readonly isLongRope?: true;
}

const { fround } = Math;

type Scaling = (parameters: Fields, defaults: RopeDefaults) => Rope;

const SCALINGS: ReadonlyMap<unknown, Scaling> = new Map<unknown, Scaling>([
  ['default', unscaled],
  // Frequencies change only beyond the model's own context, which is where the runtime ends.
  ['dynamic', unscaled],
  ['linear', linear],
  ['llama3', llama3],
  ['factors', byFactors],
  ['longrope', longRope],
  ['yarn', yarn],
]);

/** Parameters are in `rope_scaling`, or since transformers 5 in `rope_parameters`. Empty ones are none. */
export function ropeParametersOf(config: Fields): Fields {
  const scaling = readFields(config, 'rope_scaling');
  return Object.keys(scaling).length > 0 ? scaling : readFields(config, 'rope_parameters');
}

/**
 * Reads `rope_scaling` or `rope_parameters`, as `modeling_rope_utils.py` of huggingface/transformers 5 does. Computes in
 * fp32 where that does, because a rounded frequency counts as often as there are positions.
 *
 * @throws ModelFileCorruptError where a parameter is missing or out of range.
 * @throws UnsupportedModelError where the tables cannot be computed.
 */
export function readRope(parameters: Fields, defaults: RopeDefaults): Rope {
  refuseNested(parameters);
  const scale = scalingOf(parameters, defaults);
  const theta = positiveNumber(parameters, 'rope_theta', defaults.theta);
  const rope = scale(parameters, { ...defaults, headSize: turningSize(parameters, defaults), theta });
  // Queries of later tokens have factors by their positions.
  return parameters['llama_4_scaling_beta']
    ? { ...rope, maxLength: originalLength(parameters, defaults) }
    : rope;
}

/** Attention's operator takes tables of so many pairs. */
const PAIRS_STEP = 8;

/** How many values of a head turn. */
function turningSize(parameters: Fields, { headSize, canTurnPart }: RopeDefaults): number {
  const share = positiveNumber(parameters, 'partial_rotary_factor', 1);
  if (share !== 1 && !canTurnPart)
    throw UnsupportedModelError.of(`partial_rotary_factor is ${share}, but heads are rotated whole`);
  const size = headSize * share;
  if (size <= headSize && size % (2 * PAIRS_STEP) === 0) return size;
  throw UnsupportedModelError.of(
    `partial_rotary_factor ${share} turns ${size} of a head's ${headSize} values, but attention takes multiples of ${2 * PAIRS_STEP}`,
  );
}

function refuseNested(parameters: Fields): void {
  const nested = Object.keys(parameters).find((name) => isRecord(parameters[name]));
  if (nested === undefined) return;
  throw UnsupportedModelError.of(
    `rope_parameters in config.json has an object for ${nested}, but layers of this model_type rotate alike`,
  );
}

function scalingOf(parameters: Fields, { isLongRope }: RopeDefaults): Scaling {
  const given = parameters['rope_type'] ?? parameters['type'] ?? 'default';
  const type = isLongRope && (given === 'su' || given === 'yarn') ? 'longrope' : given;
  const known = isLongRope ? ['default', 'longrope'] : [...SCALINGS.keys()];
  const scaling = known.includes(type) ? SCALINGS.get(type) : undefined;
  if (scaling) return scaling;
  throw UnsupportedModelError.of(`the rope type ${JSON.stringify(type)} is not one of ${known.join(', ')}`);
}

function unscaled(_: Fields, { headSize, theta }: RopeDefaults): Rope {
  return { frequencies: periodsOf(headSize, theta).map((period) => fround(1 / period)), attentionFactor: 1 };
}

function linear(parameters: Fields, defaults: RopeDefaults): Rope {
  const factor = positiveNumber(parameters, 'factor');
  const { frequencies, attentionFactor } = unscaled(parameters, defaults);
  return { frequencies: frequencies.map((frequency) => fround(frequency / factor)), attentionFactor };
}

/** GGUF files have what `llama3` yields: a factor for each frequency. */
function byFactors(parameters: Fields, defaults: RopeDefaults): Rope {
  const { factors } = parameters;
  const { frequencies, attentionFactor } = unscaled(parameters, defaults);
  if (!Array.isArray(factors) || factors.length !== frequencies.length)
    throw UnsupportedModelError.of(`the rope has no ${frequencies.length} factors`);
  return {
    frequencies: frequencies.map((frequency, i) => fround(frequency / Number(factors[i]))),
    attentionFactor,
  };
}

/**
 * LongRoPE (arXiv 2402.13753). Sequences that are longer than the model's first context have other factors for all of their tokens, so
 * that keys which are cached would be wrong: the runtime ends at that context.
 */
function longRope(parameters: Fields, defaults: RopeDefaults): Rope {
  const { headSize, theta, contextLength } = defaults;
  const factors: unknown = parameters['short_factor'];
  const maxLength = originalLength(parameters, defaults);
  const factor = positiveNumber(parameters, 'factor', contextLength / maxLength);
  const periods = periodsOf(headSize, theta);
  if (!Array.isArray(factors) || factors.length !== periods.length)
    throw ModelFileCorruptError.of('config.json', `its short_factor has not ${periods.length} factors`);
  return {
    frequencies: periods.map((period, i) => fround(1 / fround(fround(Number(factors[i])) * period))),
    attentionFactor: positiveNumber(
      parameters,
      'attention_factor',
      factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(maxLength)),
    ),
    ...(maxLength < contextLength && { maxLength }),
  };
}

/** Slow frequencies are divided by a factor, fast ones stay, and those between get a share of both. */
function llama3(parameters: Fields, defaults: RopeDefaults): Rope {
  const factor = positiveNumber(parameters, 'factor');
  const low = positiveNumber(parameters, 'low_freq_factor');
  const high = positiveNumber(parameters, 'high_freq_factor');
  if (low >= high)
    throw UnsupportedModelError.of(
      `low_freq_factor ${low} of the rope is not below high_freq_factor ${high}`,
    );
  const length = originalLength(parameters, defaults);
  const { frequencies, attentionFactor } = unscaled(parameters, defaults);
  const scaled = frequencies.map((frequency) => {
    const numTurns = (length * frequency) / (2 * Math.PI);
    const kept = clamp((numTurns - low) / (high - low));
    return fround(((1 - kept) * frequency) / factor + kept * frequency);
  });
  return { frequencies: scaled, attentionFactor };
}

/** YaRN (arXiv 2309.00071): like llama3, with a ramp over the pairs in place of one over the frequencies. */
function yarn(parameters: Fields, defaults: RopeDefaults): Rope {
  const { headSize, theta, contextLength } = defaults;
  const length = originalLength(parameters, defaults);
  const factor = positiveNumber(parameters, 'factor', contextLength / length);
  const pairOf = (numTurns: number): number =>
    (headSize * Math.log(length / (numTurns * 2 * Math.PI))) / (2 * Math.log(theta));
  const fastest = pairOf(positiveNumber(parameters, 'beta_fast', 32));
  const slowest = pairOf(positiveNumber(parameters, 'beta_slow', 1));
  const isWhole = readBoolean(parameters, 'truncate', true);
  const first = Math.max(isWhole ? Math.floor(fastest) : fastest, 0);
  const last = Math.min(isWhole ? Math.ceil(slowest) : slowest, headSize - 1);
  const width = last === first ? 0.001 : last - first;
  const frequencies = periodsOf(headSize, theta).map((period, pair) => {
    const kept = 1 - clamp((pair - first) / width);
    return fround(fround(1 / (factor * period)) * (1 - kept) + fround(1 / period) * kept);
  });
  return { frequencies, attentionFactor: yarnAttentionFactor(parameters, factor) };
}

function yarnAttentionFactor(parameters: Fields, factor: number): number {
  const scaleOf = (weight: number): number => (factor <= 1 ? 1 : 0.1 * weight * Math.log(factor) + 1);
  const weightOf = (name: string): number => scaleOf(positiveNumber(parameters, name));
  // A weight of 0 is none.
  const isWeighted = ['mscale', 'mscale_all_dim'].every(
    (name) => parameters[name] != null && parameters[name] !== 0,
  );
  return positiveNumber(
    parameters,
    'attention_factor',
    isWeighted ? weightOf('mscale') / weightOf('mscale_all_dim') : scaleOf(1),
  );
}

/** The longest sequence that the model saw before its context was extended. */
function originalLength(parameters: Fields, { contextLength }: RopeDefaults): number {
  return positiveNumber(parameters, 'original_max_position_embeddings', contextLength);
}

function periodsOf(headSize: number, theta: number): readonly number[] {
  return Array.from({ length: headSize / 2 }, (_, pair) => fround(theta ** fround((2 * pair) / headSize)));
}

function clamp(value: number): number {
  return Math.min(Math.max(value, 0), 1);
}
