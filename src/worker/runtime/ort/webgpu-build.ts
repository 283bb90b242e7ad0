import type { OrtBuild } from './ort-builds.ts';

export const WEBGPU_BUILD: OrtBuild = { load: () => import('onnxruntime-web/jspi') };
