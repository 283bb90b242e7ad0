import * as v from 'valibot';
import { OPTION_CHECKS } from '../batching/options/option-checks.ts';
import type { CallAnswer, CallName } from './call-answers.ts';
import { chatMessage, lengthOfChat } from './chat.ts';
import type { ClientId } from './ids.ts';
import { jobAction, jobDefinition, MAX_ROWS_PER_CALL, rowQuery } from './jobs.ts';
import { dtypeChoice, modelSource, whenBusy } from './models.ts';
import { overrideId } from './status.ts';
import {
  boundedList,
  count,
  id,
  MAX_PROMPT_LENGTH,
  MAX_TEXT_LENGTH,
  name,
  passing,
  record,
  tokenIds,
  version,
  type Wire,
} from './wire.ts';

/** A client's message to the worker. */
// @__NO_SIDE_EFFECTS__
export function clientMessage<Type extends string, Entries extends v.ObjectEntries>(
  type: Type,
  entries: Entries,
) {
  return v.object({ version, clientId: id<ClientId>(), type: v.literal(type), ...entries });
}

/** A message that the worker answers with `call-answered` or `call-refused`. */
// @__NO_SIDE_EFFECTS__
function call<Type extends CallName, Entries extends v.ObjectEntries>(type: Type, entries: Entries) {
  return clientMessage(type, { callId: count, ...entries });
}

const chat = v.pipe(
  v.array(chatMessage),
  v.check(
    (messages) => lengthOfChat(messages) <= MAX_PROMPT_LENGTH,
    `Expected at most ${MAX_PROMPT_LENGTH} characters`,
  ),
);

/** The fields of each call to the worker itself. `call-answers.ts` has the answers. */
export const CALLS = {
  configure: call('configure', { deployment: name, knobs: v.unknown() }),
  /** Begins an override, or changes the one with this ID. */
  'set-override': call('set-override', { overrideId, deployment: name, knobs: v.unknown() }),
  /** Does nothing unless this override is held. */
  'release-override': call('release-override', { overrideId }),
  metrics: call('metrics', {}),
  'read-log': call('read-log', { cursor: name }),
  'token-texts': call('token-texts', { tokenIds }),
  tokenize: call('tokenize', {
    text: v.pipe(v.string(), v.maxLength(MAX_TEXT_LENGTH)),
    addSpecialTokens: v.boolean(),
  }),
  /** Renders the messages with the chat template of the current model. */
  'tokenize-chat': call('tokenize-chat', {
    messages: chat,
    addGenerationPrompt: v.boolean(),
    continueFinalMessage: v.exactOptional(v.boolean()),
    chatTemplateArguments: record,
    tools: v.exactOptional(passing(OPTION_CHECKS.tools)),
  }),
  detokenize: call('detokenize', { tokenIds }),
  'load-model': call('load-model', {
    source: modelSource,
    dtype: dtypeChoice,
    whenBusy,
    deployment: v.exactOptional(name),
    isTemporary: v.exactOptional(v.boolean()),
  }),
  /** Ends the client's temporary models. */
  'restore-model': call('restore-model', {}),
  /** May ask the hub. */
  'plan-model': call('plan-model', { source: modelSource, deployment: v.exactOptional(name) }),
  /** Frees the memory of a model: that of this deployment, or of this ID. The next request loads it again. */
  'eject-model': call('eject-model', { model: v.exactOptional(name) }),
  'list-models': call('list-models', {}),
  'suggest-models': call('suggest-models', {}),
  /** Asks the hub. */
  'list-gguf-files': call('list-gguf-files', { hub: name, id: name, revision: name }),
  /** Asks the hub. */
  'search-models': call('search-models', { hub: name, query: name }),
  'delete-model': call('delete-model', { key: v.string(), force: v.exactOptional(v.boolean()) }),
  /** Compares a tiny model's results with known values, and measures the memory: see `DeviceCheck`. It blocks the worker for about 200 ms. */
  'check-device': call('check-device', {}),
  'list-jobs': call('list-jobs', {}),
  /** Begins to store a job, which runs once `start-job` says that all rows are there. A repetition changes nothing. */
  'create-job': call('create-job', { job: jobDefinition, jobName: v.string() }),
  /** Adds rows, as JSON, behind the first `from`. A repetition changes nothing. */
  'add-job-rows': call('add-job-rows', {
    jobId: name,
    from: count,
    rows: boundedList(v.string(), MAX_ROWS_PER_CALL),
  }),
  'start-job': call('start-job', { jobId: name }),
  'steer-job': call('steer-job', { jobId: name, action: jobAction }),
  /** Runs a row again, with another seed. */
  'rerun-job-row': call('rerun-job-row', { jobId: name, index: count, seed: count }),
  'rename-job': call('rename-job', { jobId: name, jobName: v.string() }),
  'read-job': call('read-job', { jobId: name, ...rowQuery }),
} satisfies { readonly [Name in CallName]: unknown };

export type CallMessage<Name extends CallName = CallName> = {
  [Key in Name]: { readonly type: Key } & Wire<(typeof CALLS)[Key]>;
}[Name];

/** The worker's function for each call. */
export type CallHandlers<Name extends CallName = CallName> = {
  readonly [Key in Name]: (message: CallMessage<Key>) => CallAnswer<Key> | Promise<CallAnswer<Key>>;
};

/** Runs the handler of a call. */
export function handleCall<Name extends CallName>(
  handlers: CallHandlers<Name>,
  message: CallMessage<Name>,
): CallAnswer<Name> | Promise<CallAnswer<Name>> {
  return handlers[message.type](message);
}
