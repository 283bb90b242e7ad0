import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

import { packInMemory } from '../../../../src/worker/models/checkpoint/convert-weights.ts';
import { planModel } from '../../../../src/worker/models/checkpoint/model-plan.ts';
import { GRAPH_IO } from '../../../../src/worker/models/graph/graph-io.ts';
import {
  encodeOnnxModel,
  ONNX_TYPE,
  type OnnxValue,
} from '../../../../src/worker/models/graph/onnx-proto.ts';
import type { ModelConfig } from '../../../../src/worker/models/model-config.ts';
import { openFolder } from './checkpoint.ts';
import { EXPORTED_IO, integers } from './exported-graph.ts';
import { OnnxNodes } from '../../../../src/worker/models/graph/onnx-nodes.ts';

/** The dtypes by transformers.js's names: `q4f16` is q4 that computes in fp16. */
export type ExportedDtype = 'fp32' | 'fp16' | 'q4' | 'q4f16';

/** Fields of ONNX messages that are changed (onnx.proto). */
const MODEL_GRAPH = 7;
const GRAPH = { node: 1, initializer: 5, input: 11, output: 12 } as const;
const NODE = { input: 1, output: 2, name: 3 } as const;
const TENSOR = { rawData: 9, externalData: 13, dataLocation: 14 } as const;

/**
 * Gives Tabserve's own graph of a model the interface of the standard export, so that transformers.js runs the same kernels over
 * the same weights. The model outputs only the last token's logits, which saves the library those of the prompt. The rows of a
 * call must have the same length, because attention cannot pad on the left. The weights are part of the model file.
 *
 * @param folder URL of the checkpoint's folder, ending in `/`.
 */
export async function buildStandardModel(
  folder: URL,
  dtype: ExportedDtype,
): Promise<Uint8Array<ArrayBuffer>> {
  const checkpoint = await openFolder(folder);
  const { model } = checkpoint;
  const isFloat16 = dtype.endsWith('f16') || dtype === 'fp16';
  const plan = planModel(checkpoint, dtype === 'q4f16' ? 'q4' : dtype, {
    kind: 'webgpu',
    hasShaderF16: isFloat16,
    maxBufferSize: Infinity,
    maxStorageBufferBindingSize: Infinity,
    memoryBytes: undefined,
  });
  const { packed, weights } = await packInMemory(checkpoint, plan);
  const { contextLength } = model.config;
  const graph = model.buildGraph({
    layout: packed,
    maxBindingBytes: Infinity,
    contextLength,
    attention: 'fused',
  });
  const inside = changeGraph(graph, (core) =>
    embedWeights(renameValues(core, namesOf(model.config)), weights),
  );
  const kvType = isFloat16 ? 'float16' : 'float32';
  const [before, after] = [encodeBefore(model.config, kvType), encodeAfter(model.config, kvType)];
  // Fields of a message may come in pieces, which readers join.
  return changeGraph(inside, (core) => Buffer.concat([graphOf(before), core, graphOf(after)]));
}

/** Maps names of our graph to names behind the standard interface. */
function namesOf({ numLayers }: ModelConfig): ReadonlyMap<string, string> {
  const layers = Array.from({ length: numLayers }, (_, layer): [string, string][] => [
    [GRAPH_IO.past.key(layer), EXPORTED_IO.pastKey(layer)],
    [GRAPH_IO.past.value(layer), EXPORTED_IO.pastValue(layer)],
    [GRAPH_IO.present.key(layer), EXPORTED_IO.presentKey(layer)],
    [GRAPH_IO.present.value(layer), EXPORTED_IO.presentValue(layer)],
  ]);
  return new Map([
    [GRAPH_IO.ids, 'ids.int32'],
    [GRAPH_IO.positions, 'positions.int32'],
    [GRAPH_IO.logits, 'logits.rows'],
    ...layers.flat(),
  ]);
}

/** The nodes that compute our inputs from the standard ones. */
function inputNodes(): OnnxNodes {
  const nodes = new OnnxNodes();
  const int32 = { to: { int: ONNX_TYPE.int32 } };
  nodes.add('Cast', [EXPORTED_IO.ids], ['ids.int32'], int32);
  nodes.add('Cast', [EXPORTED_IO.positions], ['positions.int32'], int32);
  nodes.add('ReduceSum', [EXPORTED_IO.mask, 'axes.tokens'], ['mask.lengths'], { keepdims: { int: 0 } });
  nodes.add('Sub', ['mask.lengths', 'number.1'], ['mask.last_indices']);
  nodes.add('Cast', ['mask.last_indices'], [GRAPH_IO.lastIndices], int32);
  nodes.add('Shape', [EXPORTED_IO.mask], ['mask.shape']);
  nodes.add('Gather', ['mask.shape', 'list.1'], ['mask.total']);
  nodes.add('Cast', ['mask.total'], [GRAPH_IO.totalLength], int32);
  // Row after row, the index of its last token: S - 1, 2 * S - 1, ...
  nodes.add('Shape', [EXPORTED_IO.ids], ['ids.shape']);
  nodes.add('Gather', ['ids.shape', 'number.0'], ['ids.rows']);
  nodes.add('Gather', ['ids.shape', 'number.1'], ['ids.tokens']);
  nodes.add('Range', ['number.0', 'ids.rows', 'number.1'], ['rows']);
  nodes.add('Add', ['rows', 'number.1'], ['rows.from_one']);
  nodes.add('Mul', ['rows.from_one', 'ids.tokens'], ['rows.ends']);
  nodes.add('Sub', ['rows.ends', 'number.1'], ['rows.last_tokens']);
  nodes.add('Cast', ['rows.last_tokens'], [GRAPH_IO.logitTokens], int32);
  return nodes;
}

/** The graph before ours: from the standard inputs to ours. */
function encodeBefore(config: ModelConfig, kvType: OnnxValue['type']): Uint8Array {
  const cache = (name: string): OnnxValue => ({
    name,
    type: kvType,
    dims: cacheDims(config, 'past_sequence_length'),
  });
  return encodeOnnxModel({
    name: 'decoder',
    nodes: inputNodes().all,
    inputs: [
      { name: EXPORTED_IO.ids, type: 'int64', dims: ['batch_size', 'sequence_length'] },
      { name: EXPORTED_IO.mask, type: 'int64', dims: ['batch_size', TOTAL] },
      { name: EXPORTED_IO.positions, type: 'int64', dims: ['batch_size', 'sequence_length'] },
      ...layersOf(config, (layer) => [
        cache(EXPORTED_IO.pastKey(layer)),
        cache(EXPORTED_IO.pastValue(layer)),
      ]),
    ],
    outputs: [],
    initializers: [
      integers('number.0', [], [0]),
      integers('number.1', [], [1]),
      integers('list.1', [1], [1]),
      integers('axes.tokens', [1], [1]),
    ],
  });
}

/** Logits [rows, vocab] -> [rows, 1, vocab] */
function encodeAfter(config: ModelConfig, kvType: OnnxValue['type']): Uint8Array {
  const nodes = new OnnxNodes();
  nodes.add('Unsqueeze', ['logits.rows', 'axes.tokens'], [EXPORTED_IO.logits]);
  const cache = (name: string): OnnxValue => ({ name, type: kvType, dims: cacheDims(config, TOTAL) });
  return encodeOnnxModel({
    name: 'decoder',
    nodes: nodes.all,
    inputs: [],
    outputs: [
      { name: EXPORTED_IO.logits, type: 'float32', dims: ['batch_size', 1, config.vocabSize] },
      ...layersOf(config, (layer) => [
        cache(EXPORTED_IO.presentKey(layer)),
        cache(EXPORTED_IO.presentValue(layer)),
      ]),
    ],
    initializers: [],
  });
}

const TOTAL = 'past_sequence_length + sequence_length';

function cacheDims({ numKvHeads, headSize }: ModelConfig, length: string): OnnxValue['dims'] {
  return ['batch_size', numKvHeads, length, headSize];
}

function layersOf(
  { numLayers }: ModelConfig,
  valuesOf: (layer: number) => readonly OnnxValue[],
): readonly OnnxValue[] {
  return Array.from({ length: numLayers }, (_, layer) => valuesOf(layer)).flat();
}

/** Drops the graph's own inputs and outputs, and renames the values between its nodes. */
function renameValues(graph: Uint8Array, names: ReadonlyMap<string, string>): Uint8Array {
  return changeFields(graph, (field, content, out) => {
    if (field === GRAPH.input || field === GRAPH.output) return true;
    if (field !== GRAPH.node) return false;
    write(
      out,
      field,
      changeFields(content, (part, name, node) => {
        if (part !== NODE.input && part !== NODE.output && part !== NODE.name) return false;
        const text = new TextDecoder().decode(name);
        node.tag(part, WireType.LengthDelimited).string(names.get(text) ?? text);
        return true;
      }),
    );
    return true;
  });
}

/** Moves external data into the model. */
function embedWeights(graph: Uint8Array, weights: Uint8Array): Uint8Array {
  return changeFields(graph, (field, tensor, out) => {
    const place = field === GRAPH.initializer ? externalPlaceOf(tensor) : undefined;
    if (!place) return false;
    const begin = Number(place.get('offset'));
    const described = changeFields(
      tensor,
      (part) => part === TENSOR.externalData || part === TENSOR.dataLocation,
    );
    const data = new BinaryWriter();
    write(data, TENSOR.rawData, weights.subarray(begin, begin + Number(place.get('length'))));
    write(out, field, Buffer.concat([described, data.finish()]));
    return true;
  });
}

/** Offset and length in the file of weights; `undefined` if the tensor holds its data. */
function externalPlaceOf(tensor: Uint8Array): ReadonlyMap<string, string> | undefined {
  const place = new Map<string, string>();
  changeFields(tensor, (field, entry) => {
    if (field !== TENSOR.externalData) return false;
    const texts: string[] = [];
    changeFields(entry, (_, text) => texts.push(new TextDecoder().decode(text)) > 0);
    const [key = '', value = ''] = texts;
    place.set(key, value);
    return true;
  });
  return place.size > 0 ? place : undefined;
}

function changeGraph(model: Uint8Array, change: (graph: Uint8Array) => Uint8Array): Uint8Array<ArrayBuffer> {
  return changeFields(model, (field, content, out) => {
    if (field !== MODEL_GRAPH) return false;
    write(out, field, change(content));
    return true;
  });
}

function graphOf(model: Uint8Array): Uint8Array {
  let found = new Uint8Array();
  changeGraph(model, (graph) => (found = new Uint8Array(graph)));
  return found;
}

function write(out: BinaryWriter, field: number, content: Uint8Array): void {
  out.tag(field, WireType.LengthDelimited).bytes(content);
}

/**
 * Copies a message, except for fields that `change` handles.
 *
 * @param change Returns whether it handled the field, and may write other fields instead. `content` is the field's bytes; for wire
 * types without a length, all bytes after the tag.
 */
function changeFields(
  message: Uint8Array,
  change: (field: number, content: Uint8Array, out: BinaryWriter) => boolean,
): Uint8Array<ArrayBuffer> {
  const [reader, out] = [new BinaryReader(message), new BinaryWriter()];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const isBytes = type === WireType.LengthDelimited;
    const content = isBytes ? reader.bytes() : reader.skip(type);
    if (change(field, content, out)) continue;
    if (isBytes) write(out, field, content);
    else out.tag(field, type).raw(content);
  }
  return out.finish();
}
