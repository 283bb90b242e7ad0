import * as v from 'valibot';
import { OPTION_CHECKS } from '../batching/options/generation-options.ts';
import { chatMessage, lengthOfChat } from './chat.ts';
import { foundModel } from './found-model.ts';
import { ggufFile } from './gguf-file.ts';
import type { ClientId } from './ids.ts';
import { jobAction, jobDefinition, jobInfo, jobPage, MAX_ROWS_PER_CALL, rowQuery } from './jobs.ts';
import {
  detokenization,
  dtypeChoice,
  modelSource,
  storedModel,
  suggestedModel,
  tokenization,
  whenBusy,
} from './models.ts';
import { batchKnobs, overrideId, policy } from './status.ts';
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
function call<Type extends string, Entries extends v.ObjectEntries, Answer extends v.GenericSchema>(
  type: Type,
  entries: Entries,
  answer: Answer,
) {
  return { message: clientMessage(type, { callId: count, ...entries }), answer };
}

const nothing = v.void();

const chat = v.pipe(
  v.array(chatMessage),
  v.check((messages) => lengthOfChat(messages) <= MAX_PROMPT_LENGTH),
);

/** The one table of calls to the worker itself: by name, the message's fields and the answer. */
export const CALLS = {
  /** Answers with all knobs of that deployment; for the text generator, the users' own. */
  configure: call('configure', { deployment: name, knobs: v.unknown() }, v.union([policy, batchKnobs])),
  /** Begins an override, or changes the one with this ID. Answers with the knobs in force. */
  'set-override': call(
    'set-override',
    { overrideId, deployment: name, knobs: v.unknown() },
    v.union([policy, batchKnobs]),
  ),
  /** Does nothing unless this override is held. */
  'release-override': call('release-override', { overrideId }, nothing),
  /** Answers in Prometheus' text format. */
  metrics: call('metrics', {}, v.string()),
  /** Answers with a string for each token. */
  'token-texts': call('token-texts', { tokenIds }, v.array(v.string())),
  tokenize: call(
    'tokenize',
    { text: v.pipe(v.string(), v.maxLength(MAX_TEXT_LENGTH)), addSpecialTokens: v.boolean() },
    tokenization,
  ),
  /** Renders the messages with the chat template of the current model. */
  'tokenize-chat': call(
    'tokenize-chat',
    {
      messages: chat,
      addGenerationPrompt: v.boolean(),
      chatTemplateArguments: record,
      tools: v.exactOptional(passing(OPTION_CHECKS.tools)),
    },
    tokenization,
  ),
  detokenize: call('detokenize', { tokenIds }, detokenization),
  /** Answers once the model serves. */
  'load-model': call(
    'load-model',
    { source: modelSource, dtype: dtypeChoice, whenBusy, deployment: v.exactOptional(name) },
    nothing,
  ),
  'list-models': call('list-models', {}, v.array(storedModel)),
  'suggest-models': call('suggest-models', {}, v.array(suggestedModel)),
  /** Asks the hub. */
  'list-gguf-files': call('list-gguf-files', { hub: name, id: name, revision: name }, v.array(ggufFile)),
  /** Asks the hub. */
  'search-models': call('search-models', { hub: name, query: name }, v.array(foundModel)),
  'delete-model': call('delete-model', { key: v.string(), force: v.exactOptional(v.boolean()) }, nothing),
  /** Compares a tiny model's results with known values, and measures the memory: see `DeviceCheck`. It blocks the worker for about 200 ms. */
  'check-device': call('check-device', {}, record),
  'list-jobs': call('list-jobs', {}, v.array(jobInfo)),
  /** Begins to store a job, which runs once `start-job` says that all rows are there. A repetition changes nothing. */
  'create-job': call('create-job', { job: jobDefinition, jobName: v.string() }, nothing),
  /** Adds rows, as JSON, behind the first `from`. A repetition changes nothing. */
  'add-job-rows': call(
    'add-job-rows',
    { jobId: name, from: count, rows: boundedList(v.string(), MAX_ROWS_PER_CALL) },
    nothing,
  ),
  'start-job': call('start-job', { jobId: name }, nothing),
  'steer-job': call('steer-job', { jobId: name, action: jobAction }, nothing),
  /** Runs a row again, with another seed. */
  'rerun-job-row': call('rerun-job-row', { jobId: name, index: count, seed: count }, nothing),
  'rename-job': call('rename-job', { jobId: name, jobName: v.string() }, nothing),
  'read-job': call('read-job', { jobId: name, ...rowQuery }, jobPage),
};

type Calls = typeof CALLS;
export type CallName = keyof Calls;

/** The message of a call. */
export type CallMessage<Name extends CallName = CallName> = {
  [Key in Name]: { readonly type: Key } & Wire<Calls[Key]['message']>;
}[Name];

export type CallAnswer<Name extends CallName> = Wire<Calls[Name]['answer']>;

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
