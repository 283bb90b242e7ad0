import { runTrials, type TrialOptions, type TrialReport } from './engine-trials.ts';
import { createSoak, type Soak, type SoakState } from './soak.ts';
import { repeatSteps } from './repeat-steps.ts';
import { resourcesPerStep } from './decode-resources.ts';
import { decoderLogits, openDecoder, runGreedyBatch, type DecoderChoice } from './decoder-probe.ts';
import { encodeOnGpu } from './encode.ts';
import { checkGpuFor } from './gpu-check-probe.ts';
import { logitsOf } from './logits-of.ts';
import { runCheckpoint } from './checkpoint-probe.ts';
import { seenAtPause } from './seen-at-pause.ts';
import { compareContinuations, compareSamplers, countDraws } from './sampler-probe.ts';
import { sharedModel, type ProbeBackend } from './shared-model.ts';
import { allowOwnScripts } from '../../src/platform/own-scripts.ts';
import { setBuilds } from '../../src/worker/runtime/ort/ort.ts';
import { WASM_BUILD } from '../../src/worker/runtime/ort/wasm-build.ts';
import { WEBGPU_BUILD } from '../../src/worker/runtime/ort/webgpu-build.ts';

/** Calls of the reference test. They reach the runtime below the engine, because the client gives no logits. */
export interface LogitsProbe {
  /**
   * @param prompts Token ids of each prompt.
   * @returns Logits [vocab] after the last token of each prompt, in fp32.
   */
  logitsOf(backend: ProbeBackend, prompts: readonly (readonly number[])[]): Promise<number[][]>;
}

/** Calls of the sampler's tests. */
export interface SamplerProbeApi {
  readonly compareSamplers: typeof compareSamplers;
  readonly compareContinuations: typeof compareContinuations;
  readonly countDraws: typeof countDraws;
  readonly resourcesPerStep: typeof resourcesPerStep;
}

/** Calls of the tests of the engine on the real runtime. */
export interface EngineProbeApi {
  /** Runs on the embedded model. */
  runTrials(backend: ProbeBackend, seed: number, options: TrialOptions): Promise<TrialReport>;
  readonly repeatSteps: typeof repeatSteps;
  startSoak(...args: Parameters<typeof createSoak>): Promise<void>;
  runSoak(numRequests: number): Promise<SoakState>;
}

/** Calls of the tests of the generated decoders. */
export interface DecoderProbeApi {
  readonly decoderLogits: typeof decoderLogits;
  readonly runGreedyBatch: typeof runGreedyBatch;
  runTrials(choice: DecoderChoice, seed: number, options: TrialOptions): Promise<TrialReport>;
}

declare global {
  interface Window {
    logitsProbe: LogitsProbe;
    samplerProbe: SamplerProbeApi;
    engineProbe: EngineProbeApi;
    decoderProbe: DecoderProbeApi;
    runCheckpoint: typeof runCheckpoint;
    checkGpuFor: typeof checkGpuFor;
    encodeOnGpu: typeof encodeOnGpu;
    seenAtPause: typeof seenAtPause;
  }
}

allowOwnScripts();
setBuilds({ webgpu: WEBGPU_BUILD, wasm: WASM_BUILD });

window.logitsProbe = {
  async logitsOf(choice, prompts) {
    const { backend, config } = await sharedModel(choice);
    return logitsOf(backend, config.contextLength, prompts);
  },
};

window.encodeOnGpu = encodeOnGpu;
window.seenAtPause = seenAtPause;
window.samplerProbe = { compareSamplers, compareContinuations, countDraws, resourcesPerStep };
window.runCheckpoint = runCheckpoint;
window.checkGpuFor = checkGpuFor;

window.decoderProbe = {
  decoderLogits,
  runGreedyBatch,
  runTrials: async (choice, ...args) => runTrials(await openDecoder(choice), ...args),
};

let soak: Soak | undefined;

window.engineProbe = {
  runTrials: async (backend, ...args) => runTrials(await sharedModel(backend), ...args),
  repeatSteps,
  async startSoak(...args) {
    soak = await createSoak(...args);
  },
  runSoak(numRequests) {
    if (!soak) throw new Error('Call startSoak first');
    return soak.run(numRequests);
  },
};
