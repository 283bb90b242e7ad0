import { describe } from 'vitest';
import { EncoderBackend } from '../../runtime/encoder/encoder-backend.ts';
import { setBuilds } from '../../runtime/ort/ort.ts';
import { WASM_BUILD } from '../../runtime/ort/wasm-build.ts';
import { WasmBackend } from '../../runtime/wasm/wasm-backend.ts';
import { testOperations } from '../../testing/operation-suite.ts';

setBuilds({ wasm: WASM_BUILD });

describe('a graph on the CPU of onnxruntime', () => {
  testOperations({
    dtype: 'fp32',
    tolerance: 1e-5,
    refuses: ['shortConv'],
    createBackend: (model) => WasmBackend.create({ ...model, numThreads: 1 }),
    createEncoder: (model, encoder) => EncoderBackend.create(model, encoder, { numThreads: 1 }),
  });
});
