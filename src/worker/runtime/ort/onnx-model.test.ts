import { beforeEach, describe, expect, it, vi } from 'vitest';

import { encodeOnnxModel, type OnnxGraph } from '../../models/onnx/onnx-proto.ts';
import { loadOnnxModel, type OnnxModelOptions } from './onnx-model.ts';
import { rowsOf, stackRows } from './onnx-tensor.ts';
import { setBuilds } from './ort.ts';
import { WASM_BUILD } from './wasm-build.ts';

const node = (opType: string, inputs: string[], outputs: string[], attributes = {}) =>
  ({ opType, domain: '', inputs, outputs, attributes }) as const;

/** As a text classifier: token ids and a mask, a label and the scores. */
const CLASSIFIER: OnnxGraph = {
  name: 'classifier',
  inputs: [
    { name: 'ids', type: 'int64', dims: ['batch', 'length'] },
    { name: 'mask', type: 'bool', dims: ['batch', 'length'] },
  ],
  outputs: [
    { name: 'label', type: 'int64', dims: ['batch'] },
    { name: 'scores', type: 'float32', dims: ['batch', 'length'] },
  ],
  nodes: [
    node('Cast', ['ids'], ['values'], { to: { int: 1 } }),
    node('Cast', ['mask'], ['factors'], { to: { int: 1 } }),
    node('Mul', ['values', 'factors'], ['scores']),
    node('ArgMax', ['scores'], ['label'], { axis: { int: 1 }, keepdims: { int: 0 } }),
  ],
  initializers: [],
};

/** A model whose weights lie beside it. */
const SCALED: OnnxGraph = {
  name: 'scaled',
  inputs: [{ name: 'x', type: 'float32', dims: ['batch', 2] }],
  outputs: [{ name: 'y', type: 'float32', dims: ['batch', 2] }],
  nodes: [node('Mul', ['x', 'w'], ['y'])],
  initializers: [
    { name: 'w', type: 'float32', dims: [2], data: { location: 'weights.bin', offset: 4, length: 8 } },
  ],
};

const load = (graph: OnnxGraph, options?: OnnxModelOptions) =>
  loadOnnxModel(new Blob([encodeOnnxModel(graph)]), options)();

beforeEach(() => setBuilds({ wasm: WASM_BUILD }));

describe('an ONNX model', () => {
  it('names its inputs and outputs with their types and shapes', async () => {
    const { inputs, outputs } = await load(CLASSIFIER);
    expect(inputs).toEqual([
      { name: 'ids', type: 'int64', shape: ['batch', 'length'] },
      { name: 'mask', type: 'bool', shape: ['batch', 'length'] },
    ]);
    expect(outputs).toMatchObject([
      { name: 'label', type: 'int64' },
      { name: 'scores', type: 'float32' },
    ]);
  });

  it('hands options of its session on', async () => {
    const session = { freeDimensionOverrides: { batch: 2, length: 4 } };
    const { inputs } = await load(CLASSIFIER, { session });
    expect(inputs.map(({ shape }) => shape)).toEqual([
      [2, 4],
      [2, 4],
    ]);
  });

  it('takes items of any length as rows of its own types, and gives all outputs', async () => {
    const model = await load(CLASSIFIER);
    const texts = [[3, 9, 4], [7]];
    const { label, scores } = await model.run({
      ids: stackRows(texts, { padToMultipleOf: 4, padWith: 50 }),
      mask: stackRows(
        texts.map((ids) => ids.map(() => 1)),
        { padToMultipleOf: 4 },
      ),
    });
    expect(label).toEqual({ type: 'int64', data: BigInt64Array.of(1n, 0n), dims: [2] });
    expect(rowsOf(scores)).toEqual([
      [3, 9, 4, 0],
      [7, 0, 0, 0],
    ]);
  });

  it('takes as many items as there are where the model has no name for their number', async () => {
    const model = await load({
      ...SCALED,
      inputs: [{ name: 'x', type: 'float32', dims: ['', 2] }],
      outputs: [{ name: 'y', type: 'float32', dims: ['', 2] }],
      nodes: [node('Identity', ['x'], ['y'])],
      initializers: [],
    });
    expect(model.inputs).toEqual([{ name: 'x', type: 'float32', shape: [-1, 2] }]);
    const { y } = await model.run({
      x: stackRows([
        [1, 2],
        [3, 4],
        [5, 6],
      ]),
    });
    expect(rowsOf(y)).toHaveLength(3);
  });

  it('takes and gives values of half precision', async () => {
    const type = 'float16';
    const model = await load({
      name: 'halves',
      inputs: [{ name: 'x', type, dims: ['batch', 2] }],
      outputs: [{ name: 'y', type, dims: ['batch', 2] }],
      nodes: [node('Identity', ['x'], ['y'])],
      initializers: [],
    });
    const { y } = await model.run({ x: stackRows([[1, -0.5]]) });
    expect(y?.data).toEqual(Uint16Array.of(0x3c00, 0xb800));
    expect(rowsOf(y)).toEqual([[1, -0.5]]);
  });

  it('reads weights that lie beside it', async () => {
    const weights = new Blob([Float32Array.of(0, 2, 3)]);
    const model = await load(SCALED, { externalData: { 'weights.bin': weights } });
    const { y } = await model.run({ x: { data: Float32Array.of(1, 1, 5, 5), dims: [2, 2] } });
    expect(rowsOf(y)).toEqual([
      [2, 3],
      [10, 15],
    ]);
  });

  it.each([
    ['without weights', undefined, /needs the file 'weights\.bin'.*in `externalData`\.$/],
    ['with weights under another path', { 'W.bin': new Blob([]) }, /'weights\.bin'.*which has 'W\.bin'/],
    ['with a part of its weights', { './weights.bin': new Blob(['ab']) }, /has 2 bytes, and .* reads 12/],
  ])('is refused %s', async (_, externalData, message) => {
    await expect(load(SCALED, { externalData })).rejects.toMatchObject({
      code: 'ONNX_MODEL_FAILED',
      message: expect.stringMatching(message),
    });
  });

  it.each(['the model', 'its weights'])('is missing where a web page comes in place of %s', async (place) => {
    const page = new Response('<!doctype html>', { headers: { 'Content-Type': 'text/html;charset=utf-8' } });
    vi.stubGlobal('fetch', () => Promise.resolve(page));
    const source = place === 'the model' ? '/model.onnx' : new Blob([encodeOnnxModel(SCALED)]);
    await expect(
      loadOnnxModel(source, { externalData: { 'weights.bin': '/weights.bin' } })(),
    ).rejects.toMatchObject({
      code: 'MODEL_FILE_MISSING',
      message: expect.stringMatching(/answers with a web page\. Check the address/),
    });
  });

  it.each([
    [
      'an operator that is not there',
      { ...CLASSIFIER, nodes: [...CLASSIFIER.nodes.slice(0, 3), node('Divine', ['scores'], ['label'])] },
      /Divine.*operators that onnxruntime-web has/,
    ],
  ])('is refused with %s', async (_, graph, message) => {
    await expect(load(graph)).rejects.toMatchObject({
      code: 'ONNX_MODEL_FAILED',
      message: expect.stringMatching(message),
    });
  });

  it('runs on the CPU where there is no adapter, if any backend will do', async () => {
    await expect(load(CLASSIFIER, { backend: 'webgpu' })).rejects.toMatchObject({
      code: 'NO_WEBGPU_ADAPTER',
    });
    await expect(load(CLASSIFIER, { backend: 'auto' })).resolves.toHaveProperty('backend', 'wasm');
  });

  it('names a file that cannot be fetched', async () => {
    await expect(loadOnnxModel('http://localhost:1/model.onnx')()).rejects.toMatchObject({
      code: 'MODEL_FILE_MISSING',
    });
  });

  const ids = stackRows([[1, 2]]);
  it.each([
    ['another input', { ids, mask: ids, x: ids }, /`feeds` to be values for the inputs ids, mask, got `x`/],
    ['an input less', { ids }, /`mask` to be a bool tensor of the shape \[batch, length\]/],
    ['dims of another rank', { ids: { data: [1, 2], dims: [2] }, mask: ids }, /`ids\.dims`/],
    [
      'fewer values than dims say',
      { ids: { data: [1], dims: [1, 2] }, mask: ids },
      /`ids\.data` to be 2 values/,
    ],
    [
      'values of another type',
      { ids: { data: Float32Array.of(1, 2), dims: [1, 2] }, mask: ids },
      /a BigInt64Array/,
    ],
    [
      'fractions for integers',
      { ids: { data: [1.5, 2], dims: [1, 2] }, mask: ids },
      /numbers of the type int64/,
    ],
  ])('refuses %s', async (_, feeds, message) => {
    const model = await load(CLASSIFIER);
    await expect(model.run(feeds)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(message),
    });
  });
});

describe('rows of a batch', () => {
  it('have one length where no padding is asked for', () => {
    expect(() => stackRows([[1, 2], [1]])).toThrow(/`items\[1\]` to be of 2 values/);
  });

  it('have the shape of an item where it is given', () => {
    const options = { shape: [1, 2] };
    expect(stackRows([Float32Array.of(1, 2), [3, 4]], options)).toEqual({
      data: [1, 2, 3, 4],
      dims: [2, 1, 2],
    });
    expect(() => stackRows([[1], [2]], options)).toThrow(/`items\[0\]` to be of 2 values/);
  });

  it('are named as missing where the model has no such output', () => {
    expect(() => rowsOf(undefined)).toThrow(/`outputs`/);
  });

  it('are no numbers where they would be others', () => {
    const dims = [1];
    expect(() => rowsOf({ type: 'int64', data: BigInt64Array.of(2n ** 60n + 1n), dims })).toThrow(RangeError);
    expect(() => rowsOf({ type: 'string', data: ['a'], dims })).toThrow(RangeError);
  });
});
