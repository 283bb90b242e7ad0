import { expect, it } from 'vitest';
import type { Rung } from './ladder.ts';
import type { ServedModel } from './models.ts';
import { canContinue } from './served-model.ts';

const runsAs = (precision: ServedModel['precision'], rung: Rung, id = 'model'): ServedModel => ({
  id,
  backend: rung.startsWith('webgpu') ? 'webgpu' : 'wasm',
  rung,
  precision,
});

it.each([
  ['the same again', runsAs('q8', 'wasm'), runsAs('q8', 'wasm')],
  ['a lower rung takes fp32 for fp16', runsAs('fp16', 'webgpu-fp16'), runsAs('fp32', 'webgpu-fp32')],
  ['the CPU takes over from a GPU', runsAs('fp16', 'webgpu-fp16'), runsAs('fp32', 'wasm-threads')],
  ['a GPU with fp16 takes over from the CPU', runsAs('fp32', 'wasm'), runsAs('fp16', 'webgpu-fp16')],
  ['the CPU runs the weights of a GPU in 8 bits', runsAs('q8', 'webgpu-fp16'), runsAs('q8', 'wasm')],
])('a text goes on where %s', (_, begun, next) => {
  expect(canContinue(begun, next)).toBe(true);
});

it.each([
  ['another model', runsAs('q8', 'wasm'), runsAs('q8', 'wasm', 'other')],
  ['another revision', { ...runsAs('q8', 'wasm'), origin: 'c1' }, { ...runsAs('q8', 'wasm'), origin: 'c2' }],
  ['fewer bits', runsAs('fp32', 'wasm'), runsAs('q8', 'wasm')],
  ['more bits', runsAs('q8', 'wasm'), runsAs('fp32', 'wasm')],
  ['8 bits on the CPU, where fp32 is slow', runsAs('fp16', 'webgpu-fp16'), runsAs('q8', 'wasm-threads')],
  ['fp32 by choice, on a GPU with fp16', runsAs('fp16', 'webgpu-fp16'), runsAs('fp32', 'webgpu-fp16')],
  ['fp16 after a choice of fp32', runsAs('fp32', 'webgpu-fp16'), runsAs('fp16', 'webgpu-fp16')],
])('a text starts over with %s', (_, begun, next) => {
  expect(canContinue(begun, next)).toBe(false);
});
