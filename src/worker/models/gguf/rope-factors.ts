import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { isRecord } from '../../../platform/is-record.ts';
import type { Fields } from '../config-fields.ts';

/** Factors by the names of their tensors. */
type Factors = ReadonlyMap<string, readonly number[]>;

/** The rope of a config, from factors that are tensors of the file. */
type WithFactors = (config: Fields, factors: Factors, fileName: string) => Fields;

interface FactorTensors {
  readonly names: readonly string[];
  readonly apply: WithFactors;
}

/** By `model_type`. llama.cpp reads such tensors for no other architecture. */
const FACTOR_TENSORS: ReadonlyMap<unknown, FactorTensors> = new Map<unknown, FactorTensors>([
  ['llama', { names: ['rope_freqs.weight'], apply: byFrequency }],
  ['phi3', { names: ['rope_factors_short.weight', 'rope_factors_long.weight'], apply: byLength }],
]);

/** Tensors that hold factors of the rope's frequencies, which no metadata has. */
export function ropeFactorTensors({ model_type: modelType }: Fields): readonly string[] {
  return FACTOR_TENSORS.get(modelType)?.names ?? [];
}

/** @throws UnsupportedModelError beside another scaling. */
export function withRopeFactors(config: Fields, factors: Factors, fileName: string): Fields {
  const tensors = FACTOR_TENSORS.get(config['model_type']);
  return tensors && factors.size > 0 ? tensors.apply(config, factors, fileName) : config;
}

/** Llama 3 divides each frequency of a head by a factor of its own. */
function byFrequency(config: Fields, factors: Factors, fileName: string): Fields {
  if (config['rope_scaling'] === undefined) {
    const [list] = factors.values();
    return { ...config, rope_scaling: { rope_type: 'factors', factors: list } };
  }
  throw UnsupportedModelError.of(`${fileName} has both rope_freqs.weight and rope.scaling.factor`);
}

/** Phi has other factors for long sequences. Queries and keys are scaled by what the file says alone, as llama.cpp does. */
function byLength(config: Fields, factors: Factors, fileName: string): Fields {
  const given = config['rope_scaling'];
  if (isRecord(given) && (given['factor'] ?? 1) !== 1)
    throw UnsupportedModelError.of(`${fileName} has both ${[...factors.keys()][0]} and rope.scaling.factor`);
  return {
    ...config,
    rope_scaling: {
      attention_factor: 1,
      ...(isRecord(given) && given),
      rope_type: 'longrope',
      short_factor: factors.get('rope_factors_short.weight'),
      long_factor: factors.get('rope_factors_long.weight'),
    },
  };
}
