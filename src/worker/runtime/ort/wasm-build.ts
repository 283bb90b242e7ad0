import type { OrtBuild } from './ort-builds.ts';

export const WASM_BUILD: OrtBuild = {
  load: () => import('onnxruntime-web/wasm'),
};
