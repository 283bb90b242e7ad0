import { CpuPlan } from '../../src/worker/cpu/plan/cpu-plan.ts';
import { ShapeMatcher } from '../../src/worker/text-generation/shapes/shape-matcher.ts';

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

/** The contents of `faults.json`, which each worker fetches when it starts. */
export interface FaultPlan {
  readonly fault?: InjectedFault;
  /** The run that the fault hits, counted from 1; with `isAfterToken`, counted from the first token on. On a GPU, the read of a step. */
  readonly atRun?: number;
  readonly isAfterToken?: boolean;
  /** The fault hits each run that is fed this token: choose one that a single request has. */
  readonly poisonedTokenId?: number;
  /** Reading this text never ends: the tokenizer splits it by its matches. */
  readonly endlessText?: string;
  /** The browser offers no adapter, or names a software adapter as hardware. */
  readonly adapter?: 'refused' | 'hardware';
  /** How the GPU computes wrongly, without an error. */
  readonly wrongValues?: WrongValues;
  /** How a worker on the CPU works wrongly, without an error. */
  readonly wrongWork?: WrongWork;
  readonly hardwareConcurrency?: number;
}

/** Wrong attention in the third row of a decode step; activations that are NaN; a decode step that doesn't write its K/V. */
export type WrongValues = 'third-row' | 'nan' | 'stale-cache';

/**
 * Wrong logits in the third row of a step; a text that goes on a token too early; a shape that allows all tokens; wrong logits of the
 * tiny model whose values are known; wrong logits of all other models.
 */
export type WrongWork = 'third-row' | 'resumption' | 'mask' | 'known-values' | 'logits';

/** Tokens of the tiny model whose values are known. */
const TINY_VOCABULARY = 256;

/** Shaders of onnxruntime-web by their labels, and what becomes of a line wherever it stands in them. */
const WRONG_SHADERS: Readonly<Record<WrongValues, readonly [label: string, line: string, wrong: string]>> = {
  'third-row': [
    'FlashAttentionDecodeVxReduce',
    'let output_id = ',
    'if (batch_idx == 2u) { value += output_value_t(1); } let output_id = ',
  ],
  nan: ['FastGelu', 'y[global_idx]=', 'y[global_idx]=sqrt(-1 - abs(a)) * '],
  'stale-cache': [
    'SplitPackedQKVWithRotaryEmbeddingAndCopyKV',
    'if (head_idx < uniforms.kv_num_heads) {',
    'if (head_idx < uniforms.kv_num_heads && past_seqlen == 0u) {',
  ],
};

/** The messages of runs that are rejected while the runtime goes on. */
export const REJECTIONS = {
  'wasm-out-of-memory': 'Array buffer allocation failed',
  'run-rejected': 'injected',
} as const;

/** Returns undefined if the run goes on. */
type Interrupt = (tokenIds: ArrayLike<number>) => Promise<unknown> | undefined;

/** Makes the platform fail as the test's plan says. The product's code is unchanged. */
export async function injectFaults(): Promise<void> {
  const plan = await readPlan();
  if (plan.hardwareConcurrency !== undefined) {
    Object.defineProperty(navigator, 'hardwareConcurrency', { value: plan.hardwareConcurrency });
  }
  if ('gpu' in navigator) spoilAdapter(plan);
  if (plan.wrongWork) spoilWork(plan.wrongWork);
  if (plan.endlessText !== undefined) hangOn(plan.endlessText);
  const { fault, atRun = Infinity, isAfterToken = false, poisonedTokenId } = plan;
  if (!fault) return;
  const device = rememberDevice();
  const hasToken = isAfterToken ? watchForToken() : () => true;
  let numRuns = 0;
  const interrupt: Interrupt = (tokenIds) => {
    if (hasToken()) numRuns += 1;
    const isPoisoned = poisonedTokenId !== undefined && Array.from(tokenIds).includes(poisonedTokenId);
    return numRuns === atRun || isPoisoned ? cause(fault, device()) : undefined;
  };
  if (fault === 'device-lost' || fault.startsWith('gpu-')) beforeEachRead(interrupt);
  else beforeEachPass(interrupt);
}

async function readPlan(): Promise<FaultPlan> {
  const response = await fetch('/faults.json');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the test that this build is for
  return response.ok ? ((await response.json()) as FaultPlan) : {};
}

function spoilAdapter({ adapter, wrongValues }: FaultPlan): void {
  if (wrongValues) spoilShader(...WRONG_SHADERS[wrongValues]);
  if (adapter === 'refused') GPU.prototype.requestAdapter = () => Promise.resolve(null);
  if (adapter !== 'hardware') return;
  for (const name of ['vendor', 'architecture', 'device', 'description'])
    Object.defineProperty(GPUAdapterInfo.prototype, name, { get: () => 'hardware' });
  Object.defineProperty(GPUAdapterInfo.prototype, 'isFallbackAdapter', { get: () => false });
}

function spoilShader(label: string, line: string, wrong: string): void {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { createShaderModule } = GPUDevice.prototype;
  GPUDevice.prototype.createShaderModule = function spoiled(shader) {
    const code = shader.label === label ? shader.code.replaceAll(line, wrong) : shader.code;
    return createShaderModule.call(this, { ...shader, code });
  };
}

function spoilWork(wrong: WrongWork): void {
  switch (wrong) {
    case 'third-row':
      spoilLogits((row, size) => row === 2 && size > TINY_VOCABULARY);
      break;
    case 'known-values':
      spoilLogits((_, size) => size === TINY_VOCABULARY);
      break;
    case 'logits':
      spoilLogits((_, size) => size > TINY_VOCABULARY);
      break;
    case 'resumption':
      // Listeners share the message.
      self.addEventListener('message', ({ data }: MessageEvent<unknown>) => shortenResumptions(data));
      break;
    case 'mask':
      ShapeMatcher.prototype.mask = () => new Uint32Array(2 ** 12).fill(0xffff_ffff);
      break;
    default:
      wrong satisfies never;
  }
}

/** Makes one token likeliest in some rows of logits, whose length is the size of the vocabulary. */
function spoilLogits(isSpoilt: (row: number, size: number) => boolean): void {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { run } = CpuPlan.prototype;
  CpuPlan.prototype.run = async function spoilt(pass, inputs) {
    const runMs = await run.call(this, pass, inputs);
    for (const index of pass.wantedTokens.keys()) {
      const logits = this.logits.row(pass.firstLogitRow + index);
      if (isSpoilt(index, logits.length)) logits[7] = 100;
    }
    return runMs;
  };
}

function shortenResumptions(data: unknown): void {
  if (typeof data !== 'object' || data === null) return;
  if ('resumption' in data) JSON.stringify(data, (key, value: unknown) => shortened(key, value));
  else Object.values(data).forEach(shortenResumptions);
}

/** Takes the last token away in place. */
function shortened(key: string, value: unknown): unknown {
  if (key === 'tokenIds' && Array.isArray(value)) value.pop();
  return value;
}

function hangOn(text: string): void {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { matchAll } = String.prototype;
  // oxlint-disable-next-line eslint/no-extend-native -- the platform is what fails
  Object.defineProperty(String.prototype, 'matchAll', {
    value(this: string, pattern: RegExp) {
      while (this.includes(text));
      return matchAll.call(this, pattern);
    },
  });
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

/** Tokens go over the port to the tab that made this worker, and over channels to others. */
function watchForToken(): () => boolean {
  let hasToken = false;
  for (const sender of [BroadcastChannel.prototype, self]) {
    // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
    const { postMessage } = sender;
    sender.postMessage = function watched(this: unknown, message: unknown) {
      hasToken ||= JSON.stringify(message).includes('"tokenIds":[');
      postMessage.call(this, message);
    };
  }
  return () => hasToken;
}

/** A step on a GPU ends with a read of its result. Most replay a recorded pass, and no session runs. */
function beforeEachRead(interrupt: Interrupt): void {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { mapAsync } = GPUBuffer.prototype;
  GPUBuffer.prototype.mapAsync = function interrupted(...input) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it never resolves
    return (interrupt([]) as Promise<undefined> | undefined) ?? mapAsync.apply(this, input);
  };
}

function beforeEachPass(interrupt: Interrupt): void {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { run } = CpuPlan.prototype;
  CpuPlan.prototype.run = async function interrupted(pass, inputs) {
    await interrupt(inputs.ids);
    return run.call(this, pass, inputs);
  };
}

/** Returns undefined if the run itself goes on, on the device that was broken. */
function cause(fault: InjectedFault, device: GPUDevice | undefined): Promise<unknown> | undefined {
  switch (fault) {
    case 'device-lost':
      device?.destroy();
      return undefined;
    case 'gpu-error':
      // Usage 0 is a validation error.
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
