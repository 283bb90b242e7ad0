import { createBackend, limitsOf } from '../../runtime/devices/create-backend.ts';
import type { DeviceChoice } from '../../runtime/device-choice.ts';
import { checkpointWeights } from '../../models/checkpoint/convert-weights.ts';
import { fitOnDevice, type DeviceLimits } from '../../models/checkpoint/device-fit.ts';
import { hasFloat16, planModel } from '../../models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../../models/checkpoint/open-checkpoint.ts';
import type { PackedLayout } from '../../models/checkpoint/packed-weights.ts';
import { embeddedFileUrl } from '../../models/embedded-model.ts';
import { readGenerationDefaults } from '../../models/generation-config.ts';
import { modelTypeOf, readModel } from '../../models/families/families.ts';
import type { Model } from '../../models/family.ts';
import { countParameters } from '../../models/program/model-config.ts';
import { createStoredHasher } from '../../models/store/stored-digest.ts';
import type { ModelFolder, ModelTexts } from '../../models/store/model-folder.ts';
import type { ChosenModel, FetchedModel } from '../../models/store/model-store.ts';
import { servedFiles } from '../../models/checkpoint/served-files.ts';
import { createTokenizer } from '../../models/tokenizer/tokenizer.ts';
import {
  modelNameOf,
  type FetchedSource,
  type ModelInfo,
  type StartStage,
} from '../../../protocol/models.ts';
import { importPart } from '../../base/import-part.ts';
import type { LoadedEncoder } from '../../runtime/encoder/loaded-encoder.ts';
import type { LoadedModel } from '../../runtime/loaded-model.ts';
import type { PackedModel } from '../../runtime/model-backend.ts';
import { canThink } from '../../text-generation/answers/answer-syntax.ts';
import { dtypeNeeds, tooLarge } from '../../models/model-errors.ts';

export type ReportProgress = (stage: StartStage) => void;

/** Number of progress reports while the weights are prepared. */
const NUM_REPORTS = 20;

/** Makes a model ready to run, from the store or from its server. @throws As `loadStoredModel` and `loadFetchedModel`. */
export function loadModel(
  chosen: ChosenModel,
  device: DeviceChoice,
  report: ReportProgress,
): Promise<LoadedModel | LoadedEncoder> {
  return 'source' in chosen
    ? loadFetchedModel(chosen, device, report)
    : loadStoredModel(chosen, device, report);
}

/**
 * Fetches a model and makes it ready to run, without a copy in the store.
 *
 * @throws ModelFileMissingError, ModelFileCorruptError, UnsupportedModelError, UnsupportedDtypeError, ModelTooLargeError.
 */
export async function loadFetchedModel(
  { source, dtype }: FetchedModel,
  device: DeviceChoice,
  report: ReportProgress,
): Promise<LoadedModel | LoadedEncoder> {
  const files = servedFiles(addressOfFile(source), (loaded, total) =>
    report({ phase: 'download', loaded, total }),
  );
  const checkpoint = await openCheckpoint(files);
  report({ phase: 'prepare', loaded: 0, total: 0 });
  const plan = planModel(checkpoint, dtype, limitsOf(device));
  return load(
    { id: modelNameOf(source), ...(source.type === 'address' && { origin: source.url }) },
    checkpoint,
    checkpointWeights(checkpoint, plan),
    because(plan.reason, device),
  );
}

/** The addresses of a model's files, by their names. */
export function addressOfFile(source: FetchedSource): (name: string) => string | undefined {
  return source.type === 'embedded' ? embeddedFileUrl : (name) => new URL(name, source.url).href;
}

/**
 * Makes a stored model ready to run. Weights are read one tensor at a time.
 *
 * @throws UnsupportedDtypeError if it was stored for fp16 and this device has none.
 * @throws ModelTooLargeError if it was stored for a larger device.
 */
export async function loadStoredModel(
  folder: ModelFolder,
  device: DeviceChoice,
  report: ReportProgress,
): Promise<LoadedModel | LoadedEncoder> {
  const { id, hub, commit, packed, dtypeReason } = folder.manifest;
  if (packed.precision === 'float16' && !hasFloat16(limitsOf(device)))
    throw dtypeNeeds(packed.dtype, 'shader-f16');
  // Its code comes while the texts are read. The read of the weights hears of a failure.
  createStoredHasher().catch(() => {});
  const texts = await folder.readTexts();
  return folder.withWeights(reportParts(packed.size, report), (weights) =>
    load({ id, ...(hub && { origin: commit }) }, texts, { packed, weights }, because(dtypeReason, device)),
  );
}

/** The device, which also says why `auto` took no better precision on it. */
function because(dtypeReason: string, device: DeviceChoice): DeviceChoice {
  const sentence = dtypeReason.charAt(0).toUpperCase() + dtypeReason.slice(1);
  return { ...device, fallbackReason: [device.fallbackReason, sentence].filter(Boolean).join('. ') };
}

async function load(
  named: Pick<ModelInfo, 'id' | 'origin'>,
  texts: ModelTexts,
  { packed, weights }: Omit<PackedModel, 'model'>,
  device: DeviceChoice,
): Promise<LoadedModel | LoadedEncoder> {
  const { id } = named;
  const given = readModel(texts.config, texts.generationConfig);
  if (given.skipsVision)
    console.info(`${id} runs on texts alone: Tabserve skips its vision tower, and takes no pictures.`);
  const { model, deviceBytes } = limitContext(given, packed, limitsOf(device));
  const tokenizer = await createTokenizer(
    texts.tokenizer,
    texts.tokenizerConfig,
    model.config.vocabSize,
    !model.encoder,
  );
  if (model.encoder) {
    const { loadEncoder } = await importPart(() => import('../../runtime/encoder/load-encoder.ts'));
    const encoder = await loadEncoder(id, model.encoder, tokenizer, { model, packed, weights }, device);
    return { ...encoder, deviceBytes };
  }
  const { backend, backendInfo } = await createBackend({ model, packed, weights }, device);
  const eosTokenIds = [...new Set([...model.config.eosTokenIds, ...tokenizer.endTokenIds])];
  const config = { ...model.config, eosTokenIds };
  const modelInfo: ModelInfo = {
    ...named,
    numParameters: countParameters(model.program.weights),
    numLayers: config.numLayers,
    memoryBytes: deviceBytes,
    contextLength: config.contextLength,
    vocabSize: config.vocabSize,
    hasChatTemplate: tokenizer.chatTemplate !== undefined,
    canThink: tokenizer.chatTemplate !== undefined && canThink(tokenizer.chatTemplate),
    generationDefaults: readGenerationDefaults(texts.generationConfig, config.contextLength),
  };
  const { dtype, precision } = packed;
  const checkedAs = { modelType: modelTypeOf(texts.config), dtype, precision };
  return { config, tokenizer, backend, modelInfo, backendInfo, checkedAs, deviceBytes };
}

/** Reports before the first byte, and after each part of the bytes. */
function reportParts(total: number, report: ReportProgress): (numBytes: number) => void {
  let loaded = 0;
  let reported = 0;
  report({ phase: 'prepare', loaded, total });
  return (numBytes) => {
    loaded = Math.min(total, loaded + numBytes);
    if (loaded - reported < total / NUM_REPORTS && loaded < total) return;
    reported = loaded;
    report({ phase: 'prepare', loaded, total });
  };
}

/**
 * The model with a context that fits on the device, and the bytes that it takes there beside the runtime.
 *
 * @throws ModelTooLargeError if the device has too little memory for the model or for a context of the default length.
 */
function limitContext(
  model: Model,
  packed: PackedLayout,
  device: DeviceLimits,
): { readonly model: Model; readonly deviceBytes: number } {
  const { config, program } = model;
  const { contextLength, obstacle, deviceBytes } = fitOnDevice(model, packed, device);
  if (obstacle !== undefined) {
    throw tooLarge(obstacle, countParameters(program.weights));
  }
  return { model: { ...model, config: { ...config, contextLength } }, deviceBytes };
}
