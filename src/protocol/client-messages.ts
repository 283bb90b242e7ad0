import * as v from 'valibot';
import { InvalidOptionError, shown } from '../batching/base/errors.ts';
import { CALLS, clientMessage } from './calls.ts';
import type { ClientId, RequestId } from './ids.ts';
import { caller, requestId, submittedRequest } from './requests.ts';
import { heldOverride, knobSettings } from './status.ts';
import {
  anyVersion,
  boundedList,
  count,
  id,
  MAX_INPUTS,
  MAX_TOGETHER,
  name,
  parse,
  version,
  type Wire,
} from './wire.ts';

const submission = {
  deployment: name,
  turnId: v.exactOptional(name),
  updates: v.exactOptional(v.literal('end')),
};

const submit = clientMessage('submit', { ...submission, ...submittedRequest.entries });

/** Requests that are accepted together, or not at all. */
const submitAll = clientMessage('submit-all', {
  ...submission,
  requests: v.pipe(boundedList(submittedRequest, MAX_INPUTS), v.minLength(1)),
});

const otherMessages = [
  clientMessage('hello', {
    /** The newest knobs that this tab has seen. A worker with older ones takes them over. */
    knobs: v.exactOptional(knobSettings),
    /** The override that this tab holds. The next worker keeps it only if the tab sends it. */
    override: v.exactOptional(heldOverride),
    /** The ID of the model that the worker before this one ran. */
    modelBefore: v.exactOptional(v.string()),
  }),
  clientMessage('cancel', { requestId }),
  /** Does nothing if no load is under way. */
  clientMessage('steer-load', { action: v.picklist(['pause', 'resume', 'cancel']) }),
  /** The caller of this `load-model` no longer waits for it. The load goes on for others that do. */
  clientMessage('leave-load', { loadId: count }),
  ...Object.values(CALLS),
];

const tabMessage = v.variant('type', [submit, submitAll, ...otherMessages]);

const ofBridge = { caller: v.exactOptional(caller), isBackground: v.exactOptional(v.literal(true)) };

/** Only the bridge may name the HTTP client that it asks for, and send requests that wait behind all others. */
const bridgeMessage = v.variant('type', [
  v.object({ ...submit.entries, ...ofBridge }),
  v.object({ ...submitAll.entries, ...ofBridge }),
  ...otherMessages,
]);
/** A message from a tab or the bridge to the worker. */
export type ClientMessage = Wire<typeof bridgeMessage>;

const several = v.object({
  version,
  type: v.literal('several'),
  messages: boundedList(v.unknown(), MAX_TOGETHER),
});

/** The messages of one turn of a tab, which the worker takes in together. */
export interface ClientMessages {
  readonly version: number;
  readonly type: 'several';
  readonly messages: readonly ClientMessage[];
}

/** A message that the worker can't read, because of a value that a caller gave. Its sender waits for the answer. */
export interface UnreadMessage {
  readonly type: 'unread';
  readonly clientId: ClientId;
  /** Of a call. */
  readonly callId: number | undefined;
  /** Of the requests that were submitted. */
  readonly requestIds: readonly RequestId[];
  readonly error: InvalidOptionError;
}

/** Checks a message from a tab, or several that came together. Leaves out those that are none. */
export function parseClientMessages(data: unknown): readonly (ClientMessage | UnreadMessage)[] {
  const together = parse(several, data)?.messages ?? [data];
  return together.flatMap((message) => parseClientMessage(message) ?? unreadFrom(tabMessage, message) ?? []);
}

/** Checks a message from a tab. Prompt, options and knobs are checked later, by their deployment. */
export function parseClientMessage(data: unknown): ClientMessage | undefined {
  return parse(tabMessage, data);
}

/** Checks a message from the bridge's own socket. */
export function parseBridgeMessage(data: unknown): ClientMessage | UnreadMessage | undefined {
  return parse(bridgeMessage, data) ?? unreadFrom(bridgeMessage, data);
}

const awaited = v.object({
  version,
  clientId: id<ClientId>(),
  type: name,
  callId: v.exactOptional(count),
  requestId: v.exactOptional(requestId),
  requests: v.exactOptional(v.array(v.object({ requestId }))),
});

/** Undefined for a message that nobody waits for an answer to. */
function unreadFrom(schema: v.GenericSchema, data: unknown): UnreadMessage | undefined {
  const message = parse(awaited, data);
  const [issue] = v.safeParse(schema, data, { abortEarly: true }).issues ?? [];
  if (!message || !issue) return undefined;
  const { type, clientId, callId, requestId: single, requests = [] } = message;
  const place = shown(v.getDotPath(issue) ?? type);
  const error = new InvalidOptionError(`\`${place}\` can't be sent to the worker: ${issue.message}.`, place);
  const requestIds = [...(single === undefined ? [] : [single]), ...requests.map((each) => each.requestId)];
  return { type: 'unread', clientId, callId, requestIds, error };
}

const anyHello = v.object({ type: v.literal('hello'), version: anyVersion });

/** Whether this is a tab's hello in any version: the tab has to hear which version serves. */
export function isForeignHello(data: unknown): boolean {
  return v.is(anyHello, data);
}
