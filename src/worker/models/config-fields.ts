import { isRecord } from '../../platform/is-record.ts';
import { ModelFileCorruptError, UnsupportedModelError } from '../../protocol/errors/model.ts';

/** The parsed fields of `config.json`, or of an object in it. */
export type Fields = Readonly<Record<string, unknown>>;

/** A browser holds no tensor with more rows or columns. */
const LARGEST_SIZE = 2 ** 24;

/** Each layer takes objects of JavaScript before anything says whether its weights fit. */
export const MOST_LAYERS = 1024;

/** @throws ModelFileCorruptError if the value in `config.json` is missing, of another kind, or too large for any browser. */
export function positiveInteger(config: Fields, name: string, largest = LARGEST_SIZE): number {
  const value = config[name];
  const isInRange = typeof value === 'number' && value >= 1 && value <= largest;
  if (isInRange && Number.isInteger(value)) return value;
  throw wrongField(name, value, `an integer from 1 to ${largest}`);
}

/** @throws ModelFileCorruptError as `positiveInteger`. */
export function layerCount(config: Fields, name: string): number {
  return positiveInteger(config, name, MOST_LAYERS);
}

/** @throws ModelFileCorruptError if the value in `config.json` is of another kind, or missing without a fallback. */
export function positiveNumber(config: Fields, name: string, fallback?: number): number {
  const value = config[name] ?? fallback;
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  throw wrongField(name, value, 'a number > 0');
}

/** Of these `null` says that there is none. */
const NULLABLE: readonly string[] = ['sliding_window', 'num_key_value_heads', 'head_dim', 'eos_token_id'];

/** Fields that are `null` are left out, except where that says something. */
export function withDefaults(defaults: Fields, given: Fields): Fields {
  const valueOf = (name: string): unknown => {
    const value = given[name];
    return value === null && NULLABLE.includes(name) ? null : (value ?? defaults[name]);
  };
  return { ...given, ...Object.fromEntries(Object.keys(defaults).map((name) => [name, valueOf(name)])) };
}

/** @throws ModelFileCorruptError if the value in `config.json` is of another kind. Empty where it is missing. */
export function readFields(config: Fields, name: string): Fields {
  const value = config[name] ?? {};
  if (isRecord(value)) return value;
  throw wrongField(name, value, 'an object');
}

/** @throws ModelFileCorruptError if the value in `config.json` is of another kind. */
export function readBoolean(config: Fields, name: string, fallback = false): boolean {
  const value = config[name] ?? fallback;
  if (typeof value === 'boolean') return value;
  throw wrongField(name, value, 'true or false');
}

/**
 * What each layer is: full attention, or the other thing that a family's layers do.
 *
 * @throws ModelFileCorruptError for types of fewer or more layers.
 * @throws UnsupportedModelError for another type, and where no layer has full attention.
 */
export function requireLayerTypes<Other extends string>(
  types: readonly unknown[],
  numLayers: number,
  other: Other,
): readonly ('full_attention' | Other)[] {
  const layers = types.map((type) => requireLayerType(type, other));
  if (layers.length !== numLayers) throw wrongLayerTypes(numLayers);
  if (layers.includes('full_attention')) return layers;
  throw UnsupportedModelError.of('layer_types in config.json names no full_attention');
}

/** @throws UnsupportedModelError. */
export function requireLayerType<Other extends string>(
  type: unknown,
  other: Other,
): 'full_attention' | Other {
  if (type === 'full_attention') return type;
  if (type === other) return other;
  throw UnsupportedModelError.of(
    `layer_types in config.json names ${JSON.stringify(type)}, not full_attention or ${other}`,
  );
}

export function wrongLayerTypes(numLayers: number): ModelFileCorruptError {
  return ModelFileCorruptError.of('config.json', `its layer_types do not name ${numLayers} layers`);
}

/** @throws UnsupportedModelError for a decoder whose tokens attend to later ones: huggingface/transformers asks whether the field is true. */
export function refuseNonCausal({ is_causal: isCausal }: Fields): void {
  if (isCausal === undefined || isCausal === true) return;
  throw UnsupportedModelError.of(
    `is_causal in config.json is ${JSON.stringify(isCausal)}: tokens attend to later ones, which Tabserve does not compute`,
  );
}

/** `eos_token_id`, one id or a list. As in huggingface/transformers, `generation_config.json` goes before `config.json`. */
export function readEosTokenIds(config: Fields, generationConfig: unknown): readonly number[] {
  const fields = isRecord(generationConfig) ? generationConfig : {};
  const value = fields['eos_token_id'] ?? config['eos_token_id'];
  const ids: readonly unknown[] = Array.isArray(value) ? value : [value];
  return ids.filter((id): id is number => Number.isSafeInteger(id));
}

function wrongField(name: string, value: unknown, expected: string): ModelFileCorruptError {
  return ModelFileCorruptError.of(
    'config.json',
    `\`${name}\` is ${JSON.stringify(value)}, expected ${expected}`,
  );
}
