import { allowOwnScripts } from '../../src/platform/own-scripts.ts';
import { setBuilds } from '../../src/worker/runtime/ort/ort.ts';
import { WASM_BUILD } from '../../src/worker/runtime/ort/wasm-build.ts';
import { WEBGPU_BUILD } from '../../src/worker/runtime/ort/webgpu-build.ts';
import { runGreedyBatch, runTrials } from './batches.ts';
import { checkGpuFor, encodeOnGpu, factsOf, logitsAfter } from './models.ts';
import { wrongOperation } from './operations.ts';
import { compareSamplers } from './sampler.ts';
import { createSoak } from './soak.ts';
import { repeatSteps, resourcesPerStep } from './steps.ts';

let runSoak: Awaited<ReturnType<typeof createSoak>> | undefined;

/** What tests call: it reaches the runtime below the engine, because the client gives no logits. */
const probe = {
  checkGpuFor,
  compareSamplers,
  async startSoak(...args: Parameters<typeof createSoak>) {
    runSoak = await createSoak(...args);
  },
  runSoak(numRequests: number) {
    if (!runSoak) throw new Error('Call startSoak first');
    return runSoak(numRequests);
  },
  encodeOnGpu,
  factsOf,
  logitsAfter,
  repeatSteps,
  resourcesPerStep,
  runGreedyBatch,
  runTrials,
  wrongOperation,
};

declare global {
  interface Window {
    probe: typeof probe;
  }
}

allowOwnScripts();
setBuilds({ webgpu: WEBGPU_BUILD, wasm: WASM_BUILD });
window.probe = probe;
