import { isRecord } from './is-record.ts';
import { PROTOCOL_VERSION, type ClientMessage } from './protocol.ts';

const CHECKS: {
  readonly [Type in ClientMessage['type']]: (message: Readonly<Record<string, unknown>>) => boolean;
} = {
  init: ({ modelUrl, backend }) =>
    typeof modelUrl === 'string' && (backend === 'auto' || backend === 'webgpu' || backend === 'wasm'),
  submit: ({ requestId, clientId, deployment }) =>
    typeof requestId === 'string' && typeof clientId === 'string' && typeof deployment === 'string',
  cancel: ({ requestId }) => typeof requestId === 'string',
  configure: ({ callId, deployment }) => typeof callId === 'number' && typeof deployment === 'string',
  metrics: ({ callId }) => typeof callId === 'number',
};

/**
 * The door: the one place where something received becomes a message. What has another version or shape is
 * undefined and goes no further; prompt, options and knobs are checked by the deployment that they are for.
 */
export function parseClientMessage(data: unknown): ClientMessage | undefined {
  return isRecord(data) && isClientMessage(data) ? data : undefined;
}

function isClientMessage(
  message: Readonly<Record<string, unknown>>,
): message is Readonly<Record<string, unknown>> & ClientMessage {
  const { type, version } = message;
  return version === PROTOCOL_VERSION && isMessageType(type) && CHECKS[type](message);
}

function isMessageType(type: unknown): type is ClientMessage['type'] {
  return typeof type === 'string' && Object.hasOwn(CHECKS, type);
}
