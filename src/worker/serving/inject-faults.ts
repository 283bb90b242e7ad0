import { GRAPH_IO } from '../models/graph/model-graph.ts';

/** What goes wrong in one worker's life. */
export type InjectedFault =
  | 'device-lost'
  | 'gpu-error'
  | 'gpu-out-of-memory'
  | 'gpu-hang'
  | 'wasm-abort'
  | 'wasm-out-of-memory'
  | 'run-rejected'
  | 'worker-throw'
  | 'worker-hang'
  | 'worker-ended';

/** As `faults.json` next to the page says it, anew for each worker. */
export interface FaultPlan {
  readonly fault?: InjectedFault;
  /** At which run of onnxruntime-web, counted from 1: from the first one, or from the first that follows a token. */
  readonly atRun?: number;
  readonly isAfterToken?: boolean;
  /** Before each run that takes this token of a prompt in: what only one request does. */
  readonly poisonedTokenId?: number;
  /** No adapter at all, or one that computes in fp32 alone. */
  readonly adapter?: 'refused' | 'without-f16';
  /** What the browser says of the machine. */
  readonly hardwareConcurrency?: number;
}

/** What a run says that is rejected alone, and leaves the runtime as it is. */
export const REJECTIONS = {
  'wasm-out-of-memory': 'Array buffer allocation failed',
  'run-rejected': 'injected',
} as const;

type OrtSession = { run(...input: unknown[]): Promise<unknown> };

/**
 * The tests' way to cause what may go wrong below the worker, as the platform would: nothing above knows of it. The plan comes
 * over the network, where a test answers for the server.
 */
export async function injectFaults(): Promise<void> {
  const plan = await readPlan();
  if (plan.hardwareConcurrency !== undefined) {
    Object.defineProperty(navigator, 'hardwareConcurrency', { value: plan.hardwareConcurrency });
  }
  if ('gpu' in navigator) spoilAdapter(plan);
  const { fault, atRun = Infinity, isAfterToken = false, poisonedTokenId } = plan;
  if (!fault) return;
  const device = rememberDevice();
  const hasToken = isAfterToken ? watchForToken() : () => true;
  let numRuns = 0;
  await beforeEachRun((feeds) => {
    if (hasToken()) numRuns += 1;
    const isPoisoned = poisonedTokenId !== undefined && holds(feeds, poisonedTokenId);
    return numRuns === atRun || isPoisoned ? cause(fault, device()) : undefined;
  });
}

async function readPlan(): Promise<FaultPlan> {
  const response = await fetch('/faults.json');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the test that this build is for
  return response.ok ? ((await response.json()) as FaultPlan) : {};
}

function spoilAdapter({ adapter }: FaultPlan): void {
  if (adapter === 'refused') GPU.prototype.requestAdapter = () => Promise.resolve(null);
  if (adapter === 'without-f16') GPUSupportedFeatures.prototype.has = () => false;
}

function rememberDevice(): () => GPUDevice | undefined {
  let device: GPUDevice | undefined;
  if (!('gpu' in navigator)) return () => undefined;
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { requestDevice } = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = async function remembered(descriptor) {
    device = await requestDevice.call(this, descriptor);
    return device;
  };
  return () => device;
}

/** Whether a token has gone out to a tab. */
function watchForToken(): () => boolean {
  let hasToken = false;
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { postMessage } = BroadcastChannel.prototype;
  BroadcastChannel.prototype.postMessage = function watched(message: unknown) {
    hasToken ||= JSON.stringify(message).includes('"tokenIds":[');
    postMessage.call(this, message);
  };
  return () => hasToken;
}

/** Of the builds of onnxruntime-web that a worker may load: each has a session class of its own. */
async function beforeEachRun(interrupt: (feeds: unknown) => Promise<unknown> | undefined): Promise<void> {
  const builds = await Promise.all([import('onnxruntime-web/wasm'), importGpuBuild()]);
  for (const { InferenceSession } of builds) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- typed as a factory, and a class all the same
    const { prototype } = InferenceSession as unknown as { readonly prototype: OrtSession };
    // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
    const { run } = prototype;
    prototype.run = function interrupted(...input) {
      return interrupt(input[0]) ?? run.apply(this, input);
    };
  }
}

function importGpuBuild() {
  return 'Suspending' in WebAssembly ? import('onnxruntime-web/jspi') : import('onnxruntime-web/webgpu');
}

function holds(feeds: unknown, tokenId: number): boolean {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the WASM backend feeds them
  const ids = (feeds as Readonly<Record<string, { readonly data: Int32Array }>>)[GRAPH_IO.ids];
  return ids?.data.includes(tokenId) ?? false;
}

/** Undefined where the run goes on, into what has been done to its device. */
function cause(fault: InjectedFault, device: GPUDevice | undefined): Promise<unknown> | undefined {
  switch (fault) {
    case 'device-lost':
      device?.destroy();
      return undefined;
    case 'gpu-error':
      // A buffer that may be used for nothing.
      device?.createBuffer({ size: 4, usage: 0 });
      return undefined;
    case 'gpu-out-of-memory': {
      const error = new GPUOutOfMemoryError('injected');
      device?.dispatchEvent(new GPUUncapturedErrorEvent('uncapturederror', { error }));
      return undefined;
    }
    case 'gpu-hang':
      return new Promise<never>(() => {});
    case 'wasm-abort':
      return Promise.reject(new WebAssembly.RuntimeError('Aborted(injected)'));
    case 'wasm-out-of-memory':
      return Promise.reject(new RangeError(REJECTIONS['wasm-out-of-memory']));
    case 'run-rejected':
      return Promise.reject(new Error(REJECTIONS['run-rejected']));
    case 'worker-throw':
      setTimeout(() => {
        throw new Error('injected');
      });
      return new Promise<never>(() => {});
    case 'worker-hang':
      for (;;);
    case 'worker-ended':
      self.close();
      return new Promise<never>(() => {});
    default:
      return fault satisfies never;
  }
}
