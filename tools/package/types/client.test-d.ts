import {
  BackPressureError,
  connect,
  RequestCancelledError,
  type BatchingPolicy,
  type BatchKnobs,
  type BatchRecord,
  type ChatMessage,
  type FinishReason,
  type GenerationResult,
  type ModelLoad,
  type ServedModel,
  type TabserveState,
  type TabserveStats,
  type TabserveStatus,
  type StepBatch,
  type TokenLogprobs,
} from 'tabserve';

import type { deployments } from './deployments.js';
import { sameType } from './same-type.js';

const worker = (): Worker => new Worker(new URL('my-worker.js', import.meta.url), { type: 'module' });

// Options of connect.

const serve = await connect<typeof deployments>({ worker });
await connect({
  worker,
  name: 'app',
  backend: 'webgpu',
  model: '/models/storyteller/',
  hub: 'https://hub.test',
});
// @ts-expect-error -- the app owns its worker
await connect({ name: 'app' });
// @ts-expect-error -- no such backend
await connect({ worker, backend: 'cuda' });
// @ts-expect-error -- a misspelled option
await connect({ worker, modell: '/models/storyteller/' });
// @ts-expect-error -- a worker, not what makes one
await connect({ worker: worker() });

// Handles know the names, inputs and answers of the deployments.

type Names = Parameters<typeof serve.getHandle<'shout' | 'sentiment'>>[0];
sameType<Names, 'shout' | 'sentiment'>();
const shout = serve.getHandle('shout');
sameType<Parameters<typeof shout.remote>[0], string>();
const shouted = shout.remote('hello', { signal: AbortSignal.timeout(1000) });
sameType<Awaited<typeof shouted>, string>();
const inTime = await shouted.result({ timeoutMs: 500 });
sameType<typeof inTime, string>();
const sentiment = await serve.getHandle('sentiment').remote({ words: ['fine'] });
sameType<typeof sentiment, { label: 'positive'; score: number }>();
const all = await Promise.all(shout.remoteAll(['a', 'b']));
sameType<typeof all, string[]>();
// @ts-expect-error -- a number is no text
shout.remote(3);
// @ts-expect-error -- several inputs go to remoteAll
shout.remote(['a', 'b']);
// @ts-expect-error -- a deployment has no options of generation
shout.remote('hello', { maxNewTokens: 3 });
// @ts-expect-error -- words, not a text
serve.getHandle('sentiment').remote('fine');
// @ts-expect-error -- what another deployment answers
void ((await shout.remote('hello')) satisfies number);
// A name from elsewhere, as in a list of deployments from `status()`, has unknown types.
const unlisted = await serve.getHandle('unlisted').remote(3);
sameType<typeof unlisted, unknown>();
const plain = await connect({ worker });
const untyped = await plain.getHandle('shout').remote('hello');
sameType<typeof untyped, unknown>();

// The text generator: options, chunks, result.

const generator = serve.getHandle('text-generator');
const response = generator.remote('Once', {
  maxNewTokens: 3,
  temperature: 0.8,
  topK: 40,
  topP: 0.9,
  minP: 0.1,
  repetitionPenalty: 1.1,
  logitBias: { 262: -100 },
  seed: 7,
  logprobs: 2,
  stop: ['.', '!'],
  stopTokenIds: [13],
  n: 2,
  echo: true,
  priority: -1,
  timeoutMs: 1000,
  chatTemplateArguments: { enable_thinking: false },
  signal: AbortSignal.timeout(1000),
});
generator.remote([1, 2, 3]);
generator.remote([{ role: 'user', content: 'Hello' }]);
const messages: ChatMessage[] = [{ role: 'system', content: 'Be brief.' }];
generator.remote(messages, { stop: '.' });
// @ts-expect-error -- a misspelled option
generator.remote('Once', { maxTokens: 3 });
// @ts-expect-error -- a text in place of a number
generator.remote('Once', { temperature: '0.8' });
// @ts-expect-error -- no such role
generator.remote([{ role: 'robot', content: 'Hello' }]);
// @ts-expect-error -- no prompt
generator.remote();
for await (const chunk of response) {
  sameType<typeof chunk.index, number>();
  sameType<typeof chunk.text, string>();
  sameType<typeof chunk.tokenIds, readonly number[]>();
  sameType<typeof chunk.finishReason, FinishReason | undefined>();
  sameType<typeof chunk.isRestart, true | undefined>();
  // @ts-expect-error -- the text is `text`
  void chunk.token;
}
const result = await response.result();
sameType<typeof result, GenerationResult>();
sameType<typeof result.text, string>();
sameType<typeof result.finishReason, 'stop' | 'length'>();
sameType<typeof result.usage.numCachedTokens, number>();
sameType<typeof result.timings.ttftMs, number>();
sameType<typeof result.logprobs, readonly TokenLogprobs[] | undefined>();
sameType<(typeof result.choices)[number]['seed'], number>();
sameType<typeof response.model, ServedModel | undefined>();
// @ts-expect-error -- results are read-only
result.text = '';
const awaited = await response;
sameType<typeof awaited, GenerationResult>();
const together = await Promise.all(generator.remoteAll(['a', 'b']));
sameType<typeof together, GenerationResult[]>();

// Sugar of the client: a prompt, and a chat that grows.

const { generatedText } = await serve.generate('Once', {
  maxNewTokens: 3,
  signal: AbortSignal.timeout(1000),
});
sameType<typeof generatedText, string>();
for await (const { text } of serve.generate([1, 2, 3])) sameType<typeof text, string>();
messages.push({ role: 'user', content: 'What is a tab?' });
const answer = await serve.chat(messages, { maxNewTokens: 30 });
sameType<typeof answer, GenerationResult>();
messages.push({ role: 'assistant', content: answer.text });
serve.generate(messages);
// @ts-expect-error -- a text is no chat
serve.chat('Hello');
// @ts-expect-error -- nor are tokens
serve.chat([1, 2, 3]);
// @ts-expect-error -- a misspelled option
serve.generate('Once', { maxTokens: 3 });

// An option that is undefined is left out.

declare const unset: undefined;
const nameless = await connect({ worker, name: unset, backend: unset, hub: unset, canLead: unset });
serve.generate('Once', { maxNewTokens: unset, stop: unset, seed: unset, signal: unset });
shout.remote('hello', { signal: unset });
void response.result({ timeoutMs: unset });
void serve.configure('text-generator', { maxBatchSize: unset });
void serve.configure('shout', { maxBatchSize: unset });
void serve.overridePolicy({ policy: unset });
void serve.tokenize('Once', { addSpecialTokens: unset });
void serve.tokenizeChat(messages, { addGenerationPrompt: unset, chatTemplateArguments: unset });
void serve.loadModel('owner/name', {
  dtype: unset,
  whenBusy: unset,
  revision: unset,
  hub: unset,
  signal: unset,
  onProgress: unset,
});

// What ends with its scope.

{
  await using own = await connect({ worker, canLead: false });
  await using override = await own.overridePolicy({ policy: 'off' });
  using streamed = own.generate('Once');
  sameType<typeof override.signal, AbortSignal>();
  for await (const { text } of streamed) sameType<typeof text, string>();
}
const disposables: readonly AsyncDisposable[] = [serve, nameless];
void disposables;

// Status, knobs, models and subscriptions.

const status = serve.status();
sameType<typeof status, TabserveStatus>();
sameType<TabserveState, 'loading' | 'warming-up' | 'ready' | 'failed' | 'closed'>();
sameType<typeof status.state, TabserveState>();
sameType<NonNullable<typeof status.backend>['precision'], 'fp16' | 'fp32' | 'q8' | 'q4' | 'unknown'>();
const policy = await serve.configure('text-generator', { policy: 'static', maxBatchSize: 4 });
sameType<typeof policy, BatchingPolicy>();
const knobs = await serve.configure('shout', { maxBatchSize: 4 });
sameType<typeof knobs, BatchKnobs>();
// @ts-expect-error -- no such policy
void serve.configure('text-generator', { policy: 'dynamic' });
const steps = serve.batches('text-generator');
sameType<typeof steps, readonly StepBatch[]>();
const batches = serve.batches('shout');
sameType<typeof batches, readonly BatchRecord[]>();
const loaded = await serve.loadModel('owner/name', {
  dtype: 'q4',
  whenBusy: 'finish',
  signal: AbortSignal.timeout(1000),
  onProgress: (load) => sameType<typeof load, ModelLoad>(),
});
sameType<typeof loaded, TabserveStatus>();
serve.pauseLoad();
serve.resumeLoad();
serve.cancelLoad();
// @ts-expect-error -- progress is an option
void serve.loadModel('owner/name', {}, () => undefined);
// @ts-expect-error -- no such dtype
void serve.loadModel('owner/name', { dtype: 'int8' });
const unsubscribe = serve.subscribe('stats', (stats) => sameType<typeof stats, TabserveStats>());
sameType<typeof unsubscribe, () => void>();
serve.subscribe('requests', ([update]) => {
  if (update?.type === 'finished') sameType<typeof update.result, GenerationResult>();
  if (update?.type === 'submitted') sameType<typeof update.input, unknown>();
});
// @ts-expect-error -- no such topic
serve.subscribe('tokens', () => undefined);

// Errors narrow to their fields.

try {
  await response.result();
} catch (error) {
  if (error instanceof BackPressureError) {
    sameType<typeof error.code, 'BACK_PRESSURE'>();
    sameType<typeof error.retryAfterMs, number>();
  }
  if (error instanceof RequestCancelledError) {
    sameType<typeof error.code, 'REQUEST_CANCELLED'>();
    sameType<typeof error.name, 'AbortError'>();
  }
}
