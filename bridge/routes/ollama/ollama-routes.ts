import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { writeOrderedJson } from '../../../src/batching/base/ordered-json.ts';
import type { TabserveClient } from '../../../src/client/client.ts';
import { EMBEDDER, type Embedding } from '../../../src/protocol/embedding.ts';
import { positive, text } from '../../../src/protocol/openai/embeddings-request.ts';
import { HttpError } from '../../../src/protocol/openai/http-error.ts';
import { parseBody } from '../../../src/protocol/openai/fields.ts';
import type { ModelInfo } from '../../../src/protocol/models.ts';
import { NoModelError } from '../../../src/protocol/errors/model.ts';
import type { Exchange } from '../../http/exchange.ts';
import { readUntypedJson } from '../../http/read-body.ts';
import { getRoute, workRoute, type Route } from '../../http/router.ts';
import { modelIfAny } from '../../tabs/tab-link.ts';
import { embed, modelOf } from '../encoder-routes.ts';
import { generationRoute } from '../openai/generation-routes.ts';
import type { AskedGeneration } from '../openai/generation.ts';
import { OllamaAnswer, writeMessage, writeResponse, type Write } from './ollama-answer.ts';
import {
  mayGoAfter,
  nameOf,
  readOllamaChat,
  readOllamaGenerate,
  readOllamaOptions,
  type OllamaRequest,
} from './ollama-request.ts';

/** Clients ask for features by it. */
const API_VERSION = '0.12.0';

const flag = v.optional(v.boolean('true or false'));

const EMBED_FIELDS = {
  model: v.optional(text),
  truncate: v.optional(v.boolean('true or false'), true),
  dimensions: positive,
  keep_alive: v.optional(v.unknown()),
  options: v.optional(v.unknown()),
};
const embedRequest = v.object({ ...EMBED_FIELDS, input: v.unknown() });
/** This endpoint cuts nothing by itself. */
const olderEmbedRequest = v.object({ ...EMBED_FIELDS, truncate: flag, prompt: text });
const showRequest = v.object({
  model: v.optional(text),
  name: v.optional(text),
  verbose: flag,
  system: v.optional(text),
});

/** The part of Ollama's API by which its clients find a model, chat and embed. */
export function ollamaRoutes(serve: TabserveClient): readonly Route[] {
  const answerWith = (write: Write) => (given: AskedGeneration<OllamaRequest>) => {
    const { model } = serve.status();
    return new OllamaAnswer({ ...given, asked: askedOf(model, given.asked) }, model?.id ?? '', write);
  };
  return [
    getRoute('/api/version', (exchange) => exchange.sendJson(200, { version: API_VERSION })),
    getRoute('/api/tags', async (exchange) => exchange.sendJson(200, await list(serve, exchange))),
    getRoute('/api/ps', async (exchange) => exchange.sendJson(200, await list(serve, exchange, true))),
    workRoute('/api/show', (exchange) => show(serve, exchange)),
    generationRoute(serve, {
      path: '/api/chat',
      input: 'messages',
      read: readOllamaChat,
      answerTo: answerWith(writeMessage),
      readBody: readUntypedJson,
      write: writeOrderedJson,
    }),
    generationRoute(serve, {
      path: '/api/generate',
      input: 'prompt',
      read: readOllamaGenerate,
      answerTo: answerWith(writeResponse),
      readBody: readUntypedJson,
      write: writeOrderedJson,
    }),
    workRoute('/api/embed', (exchange) => answerEmbed(serve, exchange)),
    workRoute('/api/embeddings', (exchange) => answerOlderEmbed(serve, exchange)),
  ];
}

/** A request as this model takes it: with a plain prompt where no template writes a chat. @throws HttpError 400 */
function askedOf(model: ModelInfo | undefined, asked: OllamaRequest): OllamaRequest {
  const [prompt] = asked.prompts;
  const plain = typeof prompt === 'string' || model?.hasChatTemplate ? prompt : (asked.plainPrompt ?? prompt);
  const isPlain = typeof plain === 'string';
  if (model && asked.thinks && (isPlain || model.canThink === false))
    throw HttpError.invalid(
      'think',
      `\`${model.id}\` does not support thinking: leave \`think\` out, or pass false.`,
    );
  if (!isPlain) return asked;
  const { chatTemplateArguments: _variables, ...options } = asked.options;
  // A text has a default limit. Of a larger one the model takes what there is room for.
  const limit = asked.fillsContext ? { maxNewTokens: Number.MAX_SAFE_INTEGER } : {};
  return { ...asked, prompts: [plain], options: { ...options, ...limit } };
}

/** The models that serve. @param isInMemory Without those that were ejected. */
async function list(serve: TabserveClient, exchange: Exchange, isInMemory = false): Promise<object> {
  const model = await modelIfAny(serve, exchange.signal);
  const { policy, backend, encoders = [], isEjected } = serve.status();
  const generator = model &&
    !(isInMemory && isEjected) && {
      ...describe(model.id, backend?.precision, model.numParameters),
      context_length: Math.min(model.contextLength, policy.maxContextLength),
    };
  const listed = encoders.filter((info) => !(isInMemory && info.isEjected));
  return {
    models: [
      ...(generator ? [generator] : []),
      ...listed.map(({ id, maxTokens, backend: own }) => ({
        ...describe(id, own.precision),
        context_length: maxTokens,
      })),
    ],
  };
}

/** Sizes in bytes aren't known, and nothing expires. */
function describe(id: string, precision = '', numParameters = 0) {
  return {
    name: id,
    model: id,
    modified_at: STARTED_AT,
    expires_at: NEVER,
    size: 0,
    size_vram: 0,
    digest: createHash('sha256').update(`${id} ${precision}`).digest('hex'),
    details: detailsOf(precision, numParameters),
  };
}

const STARTED_AT = new Date().toISOString();
const NEVER = '9999-12-31T23:59:59Z';

function detailsOf(precision: string, numParameters: number) {
  return {
    parent_model: '',
    format: 'tabserve',
    family: '',
    families: [],
    parameter_size: numParameters > 0 ? `${(numParameters / 1e6).toFixed(1)}M` : '',
    quantization_level: precision.toUpperCase(),
  };
}

async function show(serve: TabserveClient, exchange: Exchange): Promise<void> {
  const { model: newer, name } = parseBody(showRequest, await readUntypedJson(exchange.request));
  const model = await modelIfAny(serve, exchange.signal);
  const asked = nameOf(newer ?? name);
  const { policy, backend, encoders = [] } = serve.status();
  const encoder = encoders.find(({ id }) => id === asked) ?? (model ? undefined : encoders[0]);
  if (!encoder && !model) throw NoModelError.of();
  if (!encoder && model) exchange.checkModel(asked, model.id);
  const capabilities = encoder ? ['embedding'] : await capabilitiesOf(serve, model);
  const contextLength = encoder?.maxTokens ?? Math.min(model?.contextLength ?? 0, policy.maxContextLength);
  exchange.sendJson(200, {
    modelfile: '',
    parameters: '',
    template: '',
    modified_at: STARTED_AT,
    details: detailsOf((encoder?.backend ?? backend)?.precision ?? '', model?.numParameters ?? 0),
    model_info: {
      'general.architecture': 'tabserve',
      'general.parameter_count': encoder ? 0 : (model?.numParameters ?? 0),
      'tabserve.context_length': contextLength,
    },
    capabilities,
  });
}

/** Whether the model's template takes tools is known once it has rendered one. */
async function capabilitiesOf(
  serve: TabserveClient,
  model: ModelInfo | undefined,
): Promise<readonly string[]> {
  if (!model?.hasChatTemplate) return ['completion'];
  const tools = [{ name: 'f', parameters: { type: 'object', properties: {} } }];
  const takesTools = await serve.tokenizeChat([{ role: 'user', content: 'Hi' }], { tools }).then(
    () => true,
    () => false,
  );
  return ['completion', ...(takesTools ? ['tools'] : []), ...(model.canThink ? ['thinking'] : [])];
}

/** How a model is run changes no vector. @throws HttpError 400 */
function checkRun({
  keep_alive: keepAlive,
  options,
}: {
  readonly keep_alive?: unknown;
  readonly options?: unknown;
}): void {
  mayGoAfter(keepAlive);
  readOllamaOptions(options);
}

async function answerEmbed(serve: TabserveClient, exchange: Exchange): Promise<void> {
  const startedAtMs = performance.now();
  const asked = parseBody(embedRequest, await readUntypedJson(exchange.request));
  checkRun(asked);
  const { model, input, truncate, dimensions } = asked;
  const embeddings = await embed(serve, exchange, {
    model: nameOf(model),
    input,
    options: { truncate, dimensions },
  });
  exchange.sendJson(200, {
    model: modelOf(serve, EMBEDDER) ?? model,
    embeddings: embeddings.map(({ embedding }) => [...embedding]),
    total_duration: Math.round((performance.now() - startedAtMs) * 1e6),
    load_duration: 0,
    prompt_eval_count: embeddings.reduce((sum, { numTokens }: Embedding) => sum + numTokens, 0),
  });
}

async function answerOlderEmbed(serve: TabserveClient, exchange: Exchange): Promise<void> {
  const body = parseBody(olderEmbedRequest, await readUntypedJson(exchange.request));
  checkRun(body);
  const { model, prompt, truncate, dimensions } = body;
  const asked = { model: nameOf(model), input: prompt, options: { truncate, dimensions } };
  const [first] = await embed(serve, exchange, asked, 'prompt');
  exchange.sendJson(200, { embedding: [...(first?.embedding ?? [])] });
}
