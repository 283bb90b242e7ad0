import { setBuilds } from '../../../src/worker/runtime/ort/ort.ts';

/** Node 24 has JSPI behind a flag alone, so this is the build that does without. */
export function shipNodeBuild(): void {
  setBuilds({ webgpu: { load: () => import('onnxruntime-web/webgpu') } });
}
