import { describe } from 'vitest';
import { OrtEncoder } from '../../runtime/encoder/ort-encoder.ts';
import { loadOrt, setBuilds } from '../../runtime/ort/ort.ts';
import { WASM_BUILD } from '../../runtime/ort/wasm-build.ts';
import { WasmBackend } from '../../runtime/wasm/wasm-backend.ts';
import { testOperations } from '../../testing/operation-suite.ts';

setBuilds({ wasm: WASM_BUILD });

describe('a graph on the CPU of onnxruntime', () => {
  testOperations({
    dtype: 'fp32',
    tolerance: 1e-5,
    refuses: ['shortConv'],
    createBackend: async (model) => WasmBackend.create(await loadOrt('wasm'), model),
    createEncoder: async (model, encoder) => OrtEncoder.create(await loadOrt('wasm'), model, encoder),
  });
});
