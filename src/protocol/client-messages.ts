import * as v from 'valibot';
import { chatMessage, lengthOfChat } from './chat.ts';
import type { ClientId } from './ids.ts';
import { dtypeChoice, modelSource, whenBusy } from './models.ts';
import { caller, requestId, submittedRequest } from './requests.ts';
import { heldOverride, knobSettings, overrideId } from './status.ts';
import {
  anyVersion,
  boundedList,
  count,
  id,
  MAX_PROMPT_LENGTH,
  MAX_TEXT_LENGTH,
  name,
  parse,
  tokenIds,
  version,
  type Wire,
} from './wire.ts';

/** More than any endpoint of the bridge submits at once. */
const MAX_REQUESTS = 1024;

// @__NO_SIDE_EFFECTS__
function message<Type extends string, Entries extends v.ObjectEntries>(type: Type, entries: Entries) {
  return v.object({ version, clientId: id<ClientId>(), type: v.literal(type), ...entries });
}

/** A message that the worker answers with `call-answered` or `call-refused`. */
// @__NO_SIDE_EFFECTS__
function call<Type extends string, Entries extends v.ObjectEntries>(type: Type, entries: Entries) {
  return message(type, { callId: count, ...entries });
}

const submission = { deployment: name, turnId: v.exactOptional(name) };

const submit = message('submit', { ...submission, ...submittedRequest.entries });

/** Requests that are accepted together, or not at all. */
const submitAll = message('submit-all', {
  ...submission,
  requests: v.pipe(boundedList(submittedRequest, MAX_REQUESTS), v.minLength(1)),
});

const otherMessages = [
  message('hello', {
    /** The knobs that this tab saw last: a worker that knows older ones takes them over. */
    knobs: v.exactOptional(knobSettings),
    /** The override that this tab holds: the next worker keeps it only if the tab names it. */
    override: v.exactOptional(heldOverride),
  }),
  message('cancel', { requestId }),
  /** Answered with the users' own knobs. */
  call('configure', { deployment: name, knobs: v.unknown() }),
  /** Begins an override, or turns knobs of the one with this id. Answered with the policy in force. */
  call('set-override', { overrideId, knobs: v.unknown() }),
  /** Does nothing where another override is held, or none. */
  call('release-override', { overrideId }),
  /** Answered in Prometheus' text format. */
  call('metrics', {}),
  /** Answered with a string for each token. */
  call('token-texts', { tokenIds }),
  /** Answered with a `Tokenization`. */
  call('tokenize', { text: v.pipe(v.string(), v.maxLength(MAX_TEXT_LENGTH)), addSpecialTokens: v.boolean() }),
  /** Answered with a `Tokenization`. Its messages go through the chat template of the model that serves. */
  call('tokenize-chat', {
    messages: v.pipe(
      v.array(chatMessage),
      v.check((messages) => lengthOfChat(messages) <= MAX_PROMPT_LENGTH),
    ),
    addGenerationPrompt: v.boolean(),
    chatTemplateArguments: v.record(v.string(), v.unknown()),
  }),
  /** Answered with a `Detokenization`. */
  call('detokenize', { tokenIds }),
  call('load-model', { source: modelSource, dtype: dtypeChoice, whenBusy }),
  /** Does nothing while no model is being loaded. */
  message('steer-load', { action: v.picklist(['pause', 'resume', 'cancel']) }),
  /** Answered with a list of `StoredModel`. */
  call('list-models', {}),
  /** Answered with a list of `SuggestedModel`. */
  call('suggest-models', {}),
  call('delete-model', { key: v.string() }),
] as const;

const tabMessage = v.variant('type', [submit, submitAll, ...otherMessages]);

/** Only the bridge may name others who ask through it. */
const bridgeMessage = v.variant('type', [
  v.object({ ...submit.entries, caller: v.exactOptional(caller) }),
  v.object({ ...submitAll.entries, caller: v.exactOptional(caller) }),
  ...otherMessages,
]);
/** A message from a tab or the bridge to the worker. */
export type ClientMessage = Wire<typeof bridgeMessage>;

/** The worker's door for tabs. Prompt, options and knobs are checked by their deployment. */
export function parseClientMessage(data: unknown): ClientMessage | undefined {
  return parse(tabMessage, data);
}

/** The worker's door for the bridge's own socket. */
export function parseBridgeMessage(data: unknown): ClientMessage | undefined {
  return parse(bridgeMessage, data);
}

const anyHello = v.object({ type: v.literal('hello'), version: anyVersion });

/** Whether a tab says hello, of whatever version: it has to hear which version serves. */
export function isForeignHello(data: unknown): boolean {
  return v.is(anyHello, data);
}
