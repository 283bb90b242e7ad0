import { beforeEach, describe, expect, it, vi } from 'vitest';

import { encodeOnnxModel, type OnnxGraph, type OnnxType } from '../../models/onnx/onnx-proto.ts';
import { readFeed } from './onnx-feed.ts';
import { loadOnnxModel } from './onnx-model.ts';
import type { OnnxModelOptions } from './onnx-options.ts';
import type { OnnxTensorType } from './onnx-tensor.ts';
import { rowsOf, stackRows } from './onnx-rows.ts';
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
    [
      'another input',
      { ids, mask: ids, x: ids },
      /`feeds` to be an object with values for the inputs ids, mask, got `x`/,
    ],
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
      /`ids\.data\[0\]` to be an integer from -9223372036854775808 to .*got `1\.5` \(number\)/,
    ],
  ])('refuses %s', async (_, feeds, message) => {
    const model = await load(CLASSIFIER);
    await expect(model.run(feeds)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(message),
    });
  });
});

function emptyPlaces(length: number): readonly unknown[] {
  const list: unknown[] = [];
  list.length = length;
  return list;
}

/** A model that gives what it takes. */
const identity = (type: OnnxType): OnnxGraph => ({
  name: type,
  inputs: [{ name: 'x', type, dims: ['length'] }],
  outputs: [{ name: 'y', type, dims: ['length'] }],
  nodes: [node('Identity', ['x'], ['y'])],
  initializers: [],
});

const LONG = { name: 'x', shape: ['length'] };

const valuesOf = (type: OnnxTensorType, ...values: readonly unknown[]) =>
  values.map((value): [OnnxTensorType, unknown] => [type, value]);

describe('plain values for an input', () => {
  it.each([
    [
      'float32',
      [0.1, 1e38, Number.NaN, -Infinity],
      [Math.fround(0.1), Math.fround(1e38), Number.NaN, -Infinity],
    ],
    ['float16', [65504, Infinity], [0x7bff, 0x7c00]],
    ['uint8', [0, 255, 7n], [0, 255, 7]],
    ['int8', [-128, 127], [-128, 127]],
    ['int64', [-(2n ** 63n), 2n ** 63n - 1n, 5], [-(2n ** 63n), 2n ** 63n - 1n, 5n]],
    ['bool', [true, false, 1, 0], [1, 0, 1, 0]],
  ] as const)('of the type %s are those that it holds', async (type, data, held) => {
    const model = await load(identity(type));
    const { y } = await model.run({ x: { data, dims: [data.length] } });
    expect([...(y?.data ?? [])]).toEqual(held);
  });

  it.each<[OnnxTensorType, unknown]>([
    ...valuesOf('uint8', 300, -1, 1.5, Number.NaN, '1', null, undefined, true, [3], 256n),
    ...valuesOf('int32', 2 ** 31, '', '3'),
    ...valuesOf('int64', 2 ** 63, 2 ** 53, 2n ** 63n, 1.5),
    ...valuesOf('uint64', -1, -1n, 2n ** 64n),
    ...valuesOf('float32', 'abc', undefined, {}, [3], null, true, 1n, 1e39),
    ...valuesOf('float16', 70_000),
    ...valuesOf('bool', 2, -1, 'true', null),
    ...valuesOf('string', 'a\0b', '\ud800', 1),
  ])('of the type %s are never %s', (type, value) => {
    const good = type === 'string' ? 'a' : 0;
    expect(() => readFeed({ ...LONG, type }, { data: [good, value], dims: [2] })).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringMatching(/^Expected `x\.data\[1\]` to be .*, got /),
      }),
    );
  });

  it('of the type bool are bits in bytes too', () => {
    const data = Uint8Array.of(0, 7);
    expect(() => readFeed({ ...LONG, type: 'bool' }, { data, dims: [2] })).toThrow(
      /^Expected `x\.data\[1\]` to be true, false, 0 or 1, got `7`/,
    );
  });

  it('may not be empty places', () => {
    expect(() => readFeed({ ...LONG, type: 'int8' }, { data: emptyPlaces(1), dims: [1] })).toThrow(
      /data\[0\]/,
    );
  });
});

describe('a feed', () => {
  it.each<[string, unknown, RegExp]>([
    [
      'nothing',
      undefined,
      /^Expected `x` to be a float32 tensor of the shape \[length\], as \{ data, dims \}/,
    ],
    ['an empty object', {}, /^Expected `x` to be a float32 tensor/],
    ['a list', [1, 2], /^Expected `x` to be a float32 tensor/],
    ['a typed array', Float32Array.of(1), /^Expected `x` to be a float32 tensor/],
    ['without dims', { data: [1] }, /^Expected `x` to be a float32 tensor/],
    ['without data', { dims: [1] }, /^Expected `x` to be a float32 tensor/],
    [
      'with data that are a text',
      { data: 'ab', dims: [2] },
      /^Expected `x\.data` to be a Float32Array, or a list/,
    ],
    ['with data that are null', { data: null, dims: [0] }, /^Expected `x\.data` to be a Float32Array/],
    ['with no list of dims', { data: [1], dims: 1 }, /^Expected `x\.dims` to be a list of lengths/],
    ...[-2, 0.5, '1', 1n, 2 ** 33, null].map((length): [string, unknown, RegExp] => [
      `with ${String(length)} (${typeof length}) in its dims`,
      { data: [], dims: [length] },
      /^Expected `x\.dims\[0\]` to be an integer >= 0/,
    ]),
    [
      'of another type',
      { type: 'float16', data: Float32Array.of(1), dims: [1] },
      /^Expected `x\.type` to be float32/,
    ],
    ['with another field', { data: [1], dims: [1], shape: [1] }, /^Unknown option `x\.shape`/],
  ])('is refused where it is %s', (_, feed, message) => {
    expect(() => readFeed({ ...LONG, type: 'float32' }, feed)).toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/_OPTION$/),
        message: expect.stringMatching(message),
      }),
    );
  });

  it('is missed where an object has that name by itself', async () => {
    const model = await load({ ...identity('float32'), ...renamed('constructor', 'y') });
    await expect(model.run({})).rejects.toMatchObject({
      message: expect.stringMatching(/^Expected `constructor` to be/),
    });
  });

  it('has no name that no object can hold', async () => {
    await expect(load({ ...identity('float32'), ...renamed('x', '__proto__') })).rejects.toMatchObject({
      code: 'ONNX_MODEL_FAILED',
      message: expect.stringMatching(/called `__proto__`.*rename it/),
    });
  });
});

const renamed = (input: string, output: string) => ({
  inputs: [{ name: input, type: 'float32', dims: ['length'] }] as const,
  outputs: [{ name: output, type: 'float32', dims: ['length'] }] as const,
  nodes: [node('Identity', [input], [output])],
});

describe('the options of a model', () => {
  const source = new Blob();
  it.each<[string, unknown, unknown, RegExp]>([
    ['a name for them', source, 'wasm', /^Expected `options` to be an object/],
    ['null', source, null, /^Expected `options` to be an object/],
    [
      'a misspelt one',
      source,
      { bakend: 'wasm' },
      /^Unknown option `bakend`: the options are backend, externalData, session/,
    ],
    ['one in lower case', source, { externaldata: {} }, /^Unknown option `externaldata`/],
    ...['cpu', 'cuda', null, 5].map((backend): [string, unknown, unknown, RegExp] => [
      `the backend ${backend}`,
      source,
      { backend },
      /^Expected `backend` to be one of wasm, webgpu, auto/,
    ]),
    ['no files beside it', source, { externalData: null }, /^Expected `externalData` to be an object/],
    [
      'a file that is none',
      source,
      { externalData: { 'w.bin': 5 } },
      /^Expected `externalData\.w\.bin` to be an address/,
    ],
    ['a session that is none', source, { session: 5 }, /^Expected `session` to be an object/],
    [
      "the session's providers",
      source,
      { session: { executionProviders: ['webgpu'] } },
      /^Unknown option `executionProviders`: the options are graph/,
    ],
    [
      'its locations',
      source,
      { session: { preferredOutputLocation: 'gpu-buffer' } },
      /^Unknown option `preferredOutputLocation`/,
    ],
    [
      'a level that is none',
      source,
      { session: { logSeverityLevel: 7 } },
      /^Expected `logSeverityLevel` to be one of 0, 1/,
    ],
    [
      'a length that is none',
      source,
      { session: { freeDimensionOverrides: { batch: -1 } } },
      /^Expected `freeDimensionOverrides\.batch` to be an integer/,
    ],
    ['an empty source', '', {}, /^Expected `source` to be an address, a URL or a Blob/],
    ['a list as the source', [], {}, /^Expected `source` to be an address/],
  ])('are never %s', (_, given, options, message) => {
    const make: (...values: readonly unknown[]) => unknown = Function.prototype.call.bind(
      loadOnnxModel,
      undefined,
    );
    expect(() => make(given, options)).toThrow(
      expect.objectContaining({
        code: expect.stringMatching(/_OPTION$/),
        message: expect.stringMatching(message),
      }),
    );
  });

  it('name no dimension that the model has not', async () => {
    const session = { freeDimensionOverrides: { bach: 2 } };
    await expect(load(CLASSIFIER, { session })).rejects.toMatchObject({
      code: 'UNKNOWN_OPTION',
      message: expect.stringMatching(/`freeDimensionOverrides\.bach`: the options are batch, length/),
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
    const refusal = expect.objectContaining({ code: 'ONNX_MODEL_FAILED' });
    expect(() => rowsOf({ type: 'int64', data: BigInt64Array.of(2n ** 60n + 1n), dims })).toThrow(refusal);
    expect(() => rowsOf({ type: 'string', data: ['a'], dims })).toThrow(refusal);
  });

  it('are none where the output has no dimensions, or fewer values than they say', () => {
    const type = 'float32';
    expect(() => rowsOf({ type, data: Float32Array.of(1), dims: [] })).toThrow(
      /no dimensions.*read its `data`/,
    );
    expect(() => rowsOf({ type, data: Float32Array.of(1, 2, 3), dims: [2, 2] })).toThrow(
      /3 values.*\[2, 2\]/,
    );
  });

  const INVALID = 'INVALID_OPTION';
  it.each<[string, unknown, unknown, string, RegExp]>([
    ['no list of items', null, {}, INVALID, /^Expected `items` to be a list of items/],
    ['a number for an item', [5], {}, INVALID, /^Expected `items\[0\]` to be a list of numbers/],
    ['a text for an item', [[1], '2'], {}, INVALID, /^Expected `items\[1\]` to be a list of numbers/],
    [
      'rows of rows',
      [
        [
          [1, 2],
          [3, 4],
        ],
      ],
      {},
      INVALID,
      /^Expected `items\[0\]\[0\]` to be a number, got `1,2` \(object\)/,
    ],
    [
      'null in an item',
      [[1, null, 3]],
      {},
      INVALID,
      /^Expected `items\[0\]\[1\]` to be a number, got `null`/,
    ],
    [
      'an empty place',
      [emptyPlaces(2)],
      {},
      INVALID,
      /^Expected `items\[0\]\[0\]` to be a number, got `undefined`/,
    ],
    ['bigints', [[1n]], {}, INVALID, /^Expected `items\[0\]\[0\]` to be a number/],
    ...[0, Number.NaN, Infinity, -4, 1.5, '4', 1e15].map(
      (padToMultipleOf): [string, unknown, unknown, string, RegExp] => [
        `a multiple of ${padToMultipleOf}`,
        [[1]],
        { padToMultipleOf },
        INVALID,
        /^Expected `padToMultipleOf` to be an integer >= 1/,
      ],
    ),
    ['a text for padding', [[1]], { padWith: '7' }, INVALID, /^Expected `padWith` to be a number/],
    ['null for padding', [[1]], { padWith: null }, INVALID, /^Expected `padWith` to be a number/],
    [
      'a negative shape',
      [[1, 2]],
      { shape: [-1, -2] },
      INVALID,
      /^Expected `shape\[0\]` to be an integer >= 0/,
    ],
    [
      'a shape and a multiple',
      [[1]],
      { shape: [1], padToMultipleOf: 4 },
      INVALID,
      /^Expected `padToMultipleOf` to be left out/,
    ],
    [
      'an unknown option',
      [[1]],
      { padTo: 4 },
      'UNKNOWN_OPTION',
      /^Unknown option `padTo`: .*padToMultipleOf/,
    ],
    ['options that are none', [[1]], null, INVALID, /^Expected `options` to be an object/],
  ])('are not made of %s', (_, items, options, code, message) => {
    const stack: (...given: readonly unknown[]) => unknown = Function.prototype.call.bind(
      stackRows,
      undefined,
    );
    expect(() => stack(items, options)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });
});
