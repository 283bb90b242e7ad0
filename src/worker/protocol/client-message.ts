import * as v from 'valibot';
import {
  MAX_CHOICES,
  type ClientId,
  type ClientMessage,
  type HostPing,
  type ModelSource,
  type ResumedChoice,
  type Resumption,
  type WorkerInit,
  type WorkerPast,
} from './protocol.ts';
import {
  count,
  duration,
  finishReason,
  heldOverride,
  id,
  knobSettings,
  logprobs,
  name,
  overrideId,
  promptLogprobs,
  recovery,
  requestId,
  rung,
  servedModel,
  tokenIds,
  version,
} from './wire-schema.ts';

const from = { version, clientId: id<ClientId>() };

const resumedChoice: v.GenericSchema<unknown, ResumedChoice> = v.object({
  tokenIds,
  logprobs: v.exactOptional(logprobs),
  promptLogprobs: v.exactOptional(promptLogprobs),
  finishReason: v.exactOptional(finishReason),
});

const resumption: v.GenericSchema<unknown, Resumption> = v.object({
  choices: v.pipe(
    v.custom<unknown[]>((value) => Array.isArray(value) && value.length <= MAX_CHOICES),
    v.array(resumedChoice),
  ),
  model: v.exactOptional(servedModel),
  queueWaitMs: v.exactOptional(duration),
  ttftMs: v.exactOptional(duration),
  isAccepted: v.exactOptional(v.literal(true)),
});

const submittedRequest = v.object({
  requestId,
  input: v.unknown(),
  options: v.unknown(),
  elapsedMs: duration,
  resumption: v.exactOptional(resumption),
});

/** More than any endpoint of the bridge submits at once. */
const MAX_REQUESTS = 1024;

const submission = { deployment: name, turnId: v.exactOptional(name) };

/** Peer, key and user. */
const caller = v.pipe(v.array(name), v.minLength(1), v.maxLength(3));

const modelSource: v.GenericSchema<unknown, ModelSource> = v.variant('type', [
  v.object({ type: v.literal('embedded') }),
  v.object({ type: v.literal('hub'), hub: name, id: name, revision: name }),
  v.object({ type: v.literal('files'), name, files: v.array(v.instance(File)) }),
]);

const submit = v.object({
  ...from,
  type: v.literal('submit'),
  ...submission,
  ...submittedRequest.entries,
});

const submitAll = v.object({
  ...from,
  type: v.literal('submit-all'),
  ...submission,
  requests: v.pipe(
    v.custom<unknown[]>((value) => Array.isArray(value) && value.length <= MAX_REQUESTS),
    v.array(submittedRequest),
    v.minLength(1),
  ),
});

const otherMessages = [
  v.object({
    ...from,
    type: v.literal('hello'),
    knobs: v.exactOptional(knobSettings),
    override: v.exactOptional(heldOverride),
  }),
  v.object({ ...from, type: v.literal('cancel'), requestId }),
  v.object({ ...from, type: v.literal('configure'), callId: count, deployment: name, knobs: v.unknown() }),
  v.object({ ...from, type: v.literal('set-override'), callId: count, overrideId, knobs: v.unknown() }),
  v.object({ ...from, type: v.literal('release-override'), callId: count, overrideId }),
  v.object({ ...from, type: v.literal('metrics'), callId: count }),
  v.object({ ...from, type: v.literal('token-texts'), callId: count, tokenIds }),
  v.object({
    ...from,
    type: v.literal('tokenize'),
    callId: count,
    text: v.string(),
    addSpecialTokens: v.boolean(),
  }),
  v.object({ ...from, type: v.literal('detokenize'), callId: count, tokenIds }),
  v.object({
    ...from,
    type: v.literal('load-model'),
    callId: count,
    source: modelSource,
    dtype: v.picklist(['auto', 'fp16', 'fp32', 'q8', 'q4']),
    whenBusy: v.picklist(['finish', 'resubmit']),
  }),
  v.object({ ...from, type: v.literal('steer-load'), action: v.picklist(['pause', 'resume', 'cancel']) }),
  v.object({ ...from, type: v.literal('list-models'), callId: count }),
  v.object({ ...from, type: v.literal('delete-model'), callId: count, key: v.string() }),
] as const;

const clientMessage: v.GenericSchema<unknown, ClientMessage> = v.variant('type', [
  submit,
  submitAll,
  ...otherMessages,
]);

/** Only the bridge may name others who ask through it. */
const bridgeMessage: v.GenericSchema<unknown, ClientMessage> = v.variant('type', [
  v.object({ ...submit.entries, caller: v.exactOptional(caller) }),
  v.object({ ...submitAll.entries, caller: v.exactOptional(caller) }),
  ...otherMessages,
]);

const workerPast: v.GenericSchema<unknown, WorkerPast> = v.object({
  recovery: v.exactOptional(recovery),
  leftRungs: v.array(v.object({ rung, reason: v.string() })),
  isProven: v.boolean(),
  maxRows: v.exactOptional(count),
  condemned: v.array(requestId),
});

const workerInit: v.GenericSchema<unknown, WorkerInit> = v.object({
  version,
  type: v.literal('init'),
  modelUrl: v.string(),
  backend: v.picklist(['auto', 'webgpu', 'wasm']),
  upstream: v.exactOptional(v.object({ url: v.string(), model: v.exactOptional(v.string()) })),
  isShared: v.boolean(),
  lifeLock: v.exactOptional(name),
  past: workerPast,
  bridgeUrl: v.exactOptional(v.string()),
});

const hostPing: v.GenericSchema<unknown, HostPing> = v.object({ version, type: v.literal('ping') });

/**
 * The worker's door: the one place where something received becomes a message. What has another version or shape is
 * undefined and goes no further; prompt, options and knobs are checked by the deployment that they are for.
 */
export function parseClientMessage(data: unknown): ClientMessage | undefined {
  return outputOf(clientMessage, data);
}

/** As `parseClientMessage`, for what comes over the bridge's own socket. */
export function parseBridgeMessage(data: unknown): ClientMessage | undefined {
  return outputOf(bridgeMessage, data);
}

export function parseWorkerInit(data: unknown): WorkerInit | undefined {
  return outputOf(workerInit, data);
}

/** Whether the tab that made the worker asks for a sign of life. */
export function isHostPing(data: unknown): data is HostPing {
  return v.is(hostPing, data);
}

/** Whether a tab of another version has come: it has to hear whom it meets. */
export function isForeignHello(data: unknown): boolean {
  return v.is(foreignHello, data);
}

const foreignHello = v.object({
  type: v.literal('hello'),
  version: v.pipe(v.number(), v.integer(), v.minValue(1)),
});

function outputOf<Message>(schema: v.GenericSchema<unknown, Message>, data: unknown): Message | undefined {
  const result = v.safeParse(schema, data, { abortEarly: true });
  return result.success ? result.output : undefined;
}
