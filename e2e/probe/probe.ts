import { runTrials } from './engine-trials.ts';
import { createSoak, type Soak, type SoakState } from './soak.ts';
import { resourcesPerStep } from './decode-resources.ts';
import { runCheckpoint } from './checkpoint-probe.ts';
import { compareContinuations, compareSamplers, countDraws } from './sampler-probe.ts';
import { sharedModel } from './shared-model.ts';
import { allowOwnScripts } from '../../src/worker/platform/own-scripts.ts';

/** What the reference test calls in the page: the runtime below the engine, of which the client shows no logits. */
export interface LogitsProbe {
  /**
   * @param prompts Token ids of each prompt.
   * @returns Logits [vocab] after the last token of each prompt, in fp32.
   */
  logitsOf(backend: 'webgpu' | 'wasm', prompts: readonly (readonly number[])[]): Promise<number[][]>;
}

/** What the sampler's tests call in the page. */
export interface SamplerProbeApi {
  readonly compareSamplers: typeof compareSamplers;
  readonly compareContinuations: typeof compareContinuations;
  readonly countDraws: typeof countDraws;
  readonly resourcesPerStep: typeof resourcesPerStep;
}

/** What the tests of the engine on the real runtime call in the page. */
export interface EngineProbeApi {
  readonly runTrials: typeof runTrials;
  startSoak(...args: Parameters<typeof createSoak>): Promise<void>;
  runSoak(numRequests: number): Promise<SoakState>;
}

declare global {
  interface Window {
    logitsProbe: LogitsProbe;
    samplerProbe: SamplerProbeApi;
    engineProbe: EngineProbeApi;
    runCheckpoint: typeof runCheckpoint;
  }
}

allowOwnScripts();

window.logitsProbe = {
  async logitsOf(choice, prompts) {
    const { backend, config } = await sharedModel(choice);
    backend.resize({ numSlots: 1, numStagingRows: 1, capacity: config.contextLength });
    const logits: number[][] = [];
    for (const prompt of prompts) {
      await backend.forward({
        target: 'staging',
        numRows: 1,
        tokensPerRow: prompt.length,
        ids: Int32Array.from(prompt),
        positions: Int32Array.from(prompt, (_, position) => position),
        lastIndices: Int32Array.of(prompt.length - 1),
      });
      logits.push([...(await backend.readLogits(1))]);
    }
    return logits;
  },
};

window.samplerProbe = { compareSamplers, compareContinuations, countDraws, resourcesPerStep };
window.runCheckpoint = runCheckpoint;

let soak: Soak | undefined;

window.engineProbe = {
  runTrials,
  async startSoak(...args) {
    soak = await createSoak(...args);
  },
  runSoak(numRequests) {
    if (!soak) throw new Error('Call startSoak first');
    return soak.run(numRequests);
  },
};
