import type { BackendName, Contender, PeerRequest } from '../../peers/contender.ts';
import { requestGpuDevice } from '../../../../src/worker/runtime/webgpu/gpu-device.ts';
import { RungUnavailableError } from '../../../../src/protocol/errors/runtime.ts';
import type { Adapter, ContenderName, LibraryName, ReferenceAnswer, Setup } from '../contender.ts';
import { play, type Played } from './play.ts';
import { Tabserve } from './tabserve.ts';

/** The benchmark's calls in a page. Each library has a page of its own. */
export interface BenchGpu {
  /** @throws Error if the browser offers no WebGPU adapter. */
  adapter(): Promise<Adapter>;
  /** @returns Where the library computes. */
  load(library: LibraryName, backend: BackendName, setup: Setup): Promise<string>;
  run(name: ContenderName, requests: readonly PeerRequest[]): Promise<Played>;
  /** Only Tabserve has this call. */
  answer(prompts: readonly string[], maxNewTokens: number): Promise<ReferenceAnswer[]>;
}

declare global {
  interface Window {
    benchGpu: BenchGpu;
  }
}

/** Returns the contender, ready for `numRows` requests at once. */
type Prepare = (name: ContenderName, numRows: number) => Promise<Contender> | Contender;

interface Loaded {
  readonly runsOn: string;
  readonly prepare: Prepare;
  readonly tabserve?: Tabserve;
}

let loaded: Loaded | undefined;

window.benchGpu = {
  async adapter() {
    const { device, adapterName, isSoftwareAdapter, hasShaderF16 } = await requestBestDevice();
    device.destroy();
    return { name: adapterName, isSoftware: isSoftwareAdapter, hasShaderF16 };
  },
  async load(library, backend, setup) {
    loaded = await LOADERS[library](backend, setup);
    return loaded.runsOn;
  },
  async run(name, requests) {
    const contender = await requireLoaded().prepare(name, requests.length);
    return play(contender, requests);
  },
  answer(prompts, maxNewTokens) {
    const { tabserve } = requireLoaded();
    if (!tabserve) throw new Error('Only Tabserve gives answers to compare with.');
    return tabserve.answer(prompts, maxNewTokens);
  },
};

const LOADERS: Readonly<Record<LibraryName, (backend: BackendName, setup: Setup) => Promise<Loaded>>> = {
  async tabserve(backend, { model }) {
    const tabserve = await Tabserve.load(backend, model);
    return {
      tabserve,
      runsOn: tabserve.runsOn,
      async prepare(_, numRows) {
        await tabserve.prepare(numRows);
        return tabserve;
      },
    };
  },
  async pipeline(backend, { model, exportedDtype }) {
    const { contendWith, createPipeline } = await import('../../peers/peers/pipeline.ts');
    const created = await createPipeline(backend, `${model.id}-onnx`, exportedDtype);
    return {
      runsOn: created.runsOn,
      prepare: (name, numRows) => contendWith(created, name === 'pipeline-one' ? 1 : numRows),
    };
  },
  async wllama(backend, { model, numSlots, contextLength }) {
    const { loadWllama } = await import('../../peers/page/wllama.ts');
    const wllama = await loadWllama(backend, { url: `models/${model.id}.gguf`, numSlots, contextLength });
    return { runsOn: wllama.runsOn, prepare: () => wllama };
  },
};

async function requestBestDevice(): ReturnType<typeof requestGpuDevice> {
  try {
    return await requestGpuDevice('fp16');
  } catch (error) {
    if (!(error instanceof RungUnavailableError)) throw error;
    return requestGpuDevice('fp32');
  }
}

function requireLoaded(): Loaded {
  if (!loaded) throw new Error('No library is loaded: call load() first.');
  return loaded;
}
