import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import {
  positiveInteger,
  positiveNumber,
  readBoolean,
  readFields,
  requireLayerType,
  wrongLayerTypes,
  type Fields,
} from '../config-fields.ts';
import type { Rope } from '../program/rope.ts';
import { readRope, ropeParametersOf } from './rope.ts';
import type { Variant } from './variants.ts';

/** The features that differ from layer to layer. */
export interface LayerConfig {
  /** Layers that rotate alike share it. `undefined` where queries and keys stay as they are. */
  readonly rope: Rope | undefined;
  /** Latest tokens that a token attends to, itself included; `undefined` for all. */
  readonly window: number | undefined;
}

type LayerType = 'full_attention' | 'sliding_attention';

/**
 * @param config With the defaults of the variant.
 * @throws ModelFileCorruptError where a field is missing or out of range.
 * @throws UnsupportedModelError where the graph cannot compute a layer.
 */
export function readLayers(
  config: Fields,
  variant: Variant,
  { numLayers, headSize }: { readonly numLayers: number; readonly headSize: number },
): readonly LayerConfig[] {
  const isRotated = readRotation(config, variant, numLayers);
  const ropes = new Map<LayerType, Rope>();
  const ropeOf = (type: LayerType): Rope => {
    const rope = ropes.get(type) ?? readLayerRope(config, variant, type, headSize);
    ropes.set(type, rope);
    return rope;
  };
  return readLayerTypes(config, variant, isRotated).map((type, layer) => ({
    rope: isRotated[layer] ? ropeOf(type) : undefined,
    window: type === 'sliding_attention' ? readWindow(config) : undefined,
  }));
}

/** Whether each layer turns queries and keys by their positions. */
function readRotation(config: Fields, { rotation }: Variant, numLayers: number): readonly boolean[] {
  const given = config['no_rope_layers'];
  const period = (): number => positiveInteger(config, 'no_rope_layer_interval');
  const isRotated = {
    all: () => true,
    position_embedding_type: () => config['position_embedding_type'] === 'rope',
    // Only GGUF files say it of Granite.
    rope_finetuned: () => readBoolean(config, 'rope_finetuned', true),
    // A 1 stands for a layer that is rotated.
    no_rope_layers: (layer: number) =>
      given == null ? (layer + 1) % period() !== 0 : Boolean(requireFlag(given, layer)),
  }[rotation];
  return Array.from({ length: numLayers }, (_, layer) => isRotated(layer));
}

function requireFlag(flags: unknown, layer: number): unknown {
  const flag: unknown = Array.isArray(flags) ? flags[layer] : undefined;
  if (flag === 0 || flag === 1 || typeof flag === 'boolean') return flag;
  throw ModelFileCorruptError.of('config.json', `its no_rope_layers have no 0 or 1 for layer ${layer}`);
}

function readLayerTypes(
  config: Fields,
  { windows }: Variant,
  isRotated: readonly boolean[],
): readonly LayerType[] {
  const { length: numLayers } = isRotated;
  const given = config['layer_types'];
  if (given != null) return readGivenTypes(given, numLayers);
  const usesWindows = readBoolean(config, 'use_sliding_window');
  const isWindowed = {
    none: () => false,
    all: () => config['sliding_window'] !== null,
    upper: (layer: number) =>
      usesWindows && config['sliding_window'] !== null && layer >= Number(config['max_window_layers']),
    unrotated: (layer: number) => usesWindows && config['sliding_window'] !== null && !isRotated[layer],
    pattern: (layer: number) => (layer + 1) % positiveInteger(config, 'sliding_window_pattern') !== 0,
  }[windows];
  return Array.from({ length: numLayers }, (_, layer) =>
    isWindowed(layer) ? 'sliding_attention' : 'full_attention',
  );
}

function readGivenTypes(given: unknown, numLayers: number): readonly LayerType[] {
  // The first configurations of Granite 4 name it `attention`.
  const types = Array.isArray(given)
    ? given.map((type: unknown) =>
        requireLayerType(type === 'attention' ? 'full_attention' : type, 'sliding_attention'),
      )
    : [];
  if (types.length >= numLayers) return types.slice(0, numLayers);
  throw wrongLayerTypes(numLayers);
}

function readWindow(config: Fields): number {
  if (readBoolean(config, 'use_sliding_window', true)) return positiveInteger(config, 'sliding_window');
  throw UnsupportedModelError.of(
    'layer_types in config.json names sliding_attention, but use_sliding_window is false',
  );
}

/** Of a model with layers that rotate by another base, `rope_parameters` may have those of each type of layer. */
function readLayerRope(config: Fields, variant: Variant, type: LayerType, headSize: number): Rope {
  const isLocal = type === 'sliding_attention' && variant.localThetaField !== 'rope_theta';
  const parameters = readRopeParameters(config, variant, type, isLocal);
  const originalLength = config['original_max_position_embeddings'];
  return readRope(
    {
      partial_rotary_factor: config['partial_rotary_factor'],
      ...parameters,
      ...(originalLength != null && { original_max_position_embeddings: originalLength }),
    },
    {
      headSize,
      theta: positiveNumber(config, isLocal ? variant.localThetaField : 'rope_theta', DEFAULT_THETA),
      contextLength: positiveInteger(config, 'max_position_embeddings'),
      ...(variant.rope === 'phi' && { canTurnPart: true, isLongRope: true }),
    },
  );
}

const DEFAULT_THETA = 1e4;

/** @param isLocal Such layers are not scaled by `rope_scaling`. */
function readRopeParameters(config: Fields, variant: Variant, type: LayerType, isLocal: boolean): Fields {
  if (variant.localThetaField === 'rope_theta') return ropeParametersOf(config);
  const byType = readFields(config, 'rope_parameters');
  const isNested = 'full_attention' in byType || 'sliding_attention' in byType;
  if (isNested) return readFields(byType, type);
  if (Object.keys(byType).length > 0)
    throw UnsupportedModelError.of(
      'rope_parameters in config.json has neither full_attention nor sliding_attention, whose layers rotate apart',
    );
  const scaling = readFields(config, 'rope_scaling');
  if (scaling['type'] != null && scaling['rope_type'] == null)
    throw UnsupportedModelError.of(
      'rope_scaling in config.json has a type, where this model_type has a rope_type',
    );
  return isLocal ? {} : scaling;
}
