import { describe } from 'vitest';
import { OnnxDecoder, OnnxEncoder } from '../../testing/onnx-reader.ts';
import { testOperations } from '../../testing/operation-suite.ts';

describe('the graph of a program', () => {
  testOperations({
    dtype: 'fp32',
    tolerance: 1e-5,
    createBackend: (model) => OnnxDecoder.create(model),
    createEncoder: (model, encoder) => OnnxEncoder.create(model, encoder),
  });
});
