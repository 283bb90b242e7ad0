import { text } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';

import { writeOrderedJson } from '../src/batching/base/ordered-json.ts';
import type { Outgoing } from '../src/client/links/link.ts';
import { fromWireText, toWireText } from '../src/protocol/wire-text.ts';
import { resolveOptions } from '../src/protocol/resolve-options.ts';
import { createModelInfo } from '../src/worker/test-support.ts';
import { deploymentRoute } from './routes/deployments.ts';
import { encoderRoutes } from './routes/encoder-routes.ts';
import { generateRoute } from './routes/generate.ts';
import { messageRoutes } from './routes/anthropic/message-routes.ts';
import { chatCompletionsRoute } from './routes/openai/generation-routes.ts';
import { PlayedRoute } from './testing/played-tab.ts';
import { listen, mountBridge } from './testing/test-support.ts';

/** Python's dictionaries keep these keys and numbers as they are; objects of JavaScript don't. */
const SCHEMA =
  '{"properties":{"z":{"type":"number","minimum":2.0},"10":{"const":{"b":1,"1":2}},"9":{"enum":[1413617112501850121]}},"type":"object"}';

const BODIES = [
  [
    'response_format',
    `{"type":"json_schema","json_schema":{"name":"a","schema":${SCHEMA}}}`,
    'responseFormat',
  ],
  ['structured_outputs', `{"json":${SCHEMA}}`, 'responseFormat'],
  ['structured_outputs', `{"json":${JSON.stringify(SCHEMA)}}`, 'responseFormat'],
  [
    'structured_outputs',
    `{"structural_tag":{"type":"json_schema","json_schema":${SCHEMA}}}`,
    'responseFormat',
  ],
  ['tools', `[{"type":"function","function":{"name":"f","parameters":${SCHEMA}}}]`, 'tools'],
  ['chat_template_kwargs', `{"schema":${SCHEMA}}`, 'chatTemplateArguments'],
] as const;

it.each(BODIES)(
  'a schema reaches the worker with its keys and numbers as written: %s %s',
  async (field, value, option) => {
    const played = new PlayedRoute({});
    await played.listen('/v1/chat/completions', chatCompletionsRoute);
    played.welcome();
    const body = `{"messages":[{"role":"user","content":"Hi"}],"${field}":${value}}`;
    const answer = played.ask({}, { body });
    const { requestId, options } = await played.submission();
    const received = fromWireText(toWireText(options));
    const resolved = resolveOptions(received, createModelInfo({ contextLength: 64 }), true);
    expect(writeOrderedJson(resolved[option])).toContain(SCHEMA);
    played.fail(requestId, 'INVALID_OPTION');
    expect((await answer).status).toBe(400);
  },
);

const FORMAT = `{"type":"json_schema","schema":${SCHEMA}}`;
const QUERY = new URLSearchParams({ text: 'Once', responseFormat: FORMAT }).toString();
const FORM = 'application/x-www-form-urlencoded';

it.each([
  ['the query of /', generateRoute, `/?${QUERY}`, '', FORM],
  ['a form', generateRoute, '/', QUERY, FORM],
  ['JSON at /', generateRoute, '/', `{"text":"Once","responseFormat":${FORMAT}}`, 'application/json'],
  [
    'JSON of the deployment',
    deploymentRoute,
    '/deployments/text-generator',
    `{"input":"Once","options":{"responseFormat":${FORMAT}}}`,
    'application/json',
  ],
])('a shape reaches the worker as it was written, from %s', async (_, routeOf, path, body, type) => {
  const played = new PlayedRoute({});
  await played.listen(path, routeOf);
  played.welcome();
  const answer = played.ask({}, { body, headers: { 'Content-Type': type } });
  const { requestId, options } = await played.submission();
  const received = fromWireText(toWireText(options));
  const { responseFormat } = resolveOptions(received, createModelInfo({ contextLength: 64 }), true);
  expect(writeOrderedJson(responseFormat)).toContain(SCHEMA);
  played.fail(requestId, 'INVALID_OPTION');
  expect((await answer).status).toBe(400);
});

it.each([
  ['/v1/embeddings', 0, '{"input":{"10":1,"2":2}}'],
  ['/', undefined, '{"text":"Once","logitBias":{"10":1,"2":1}}'],
])('an object with keys out of order reaches the worker: %s', async (path, index, body) => {
  const played = new PlayedRoute({});
  await played.listen(path, (serve) => encoderRoutes(serve)[index ?? -1] ?? generateRoute(serve));
  played.welcome();
  const answer = played.ask({}, { body });
  const { requestId, input, options } = await played.submission();
  const received = writeOrderedJson(fromWireText(toWireText({ input, options })));
  expect(received).toMatch(/"10":1,"2":[12]/);
  played.fail(requestId, 'INVALID_OPTION');
  expect((await answer).status).toBe(400);
});

const isCount = ({ type }: Outgoing): boolean => type === 'tokenize-chat';

it('the tools that are counted reach the worker in their order', async () => {
  const played = new PlayedRoute({});
  await played.listen('/', (serve) => messageRoutes(serve)[1] ?? generateRoute(serve));
  played.welcome();
  const tools = `[{"name":"f","input_schema":${SCHEMA}}]`;
  const body = `{"model":"A","messages":[{"role":"user","content":"Hi"}],"tools":${tools}}`;
  const answer = played.ask({}, { body });
  const call = await vi.waitUntil(() => played.posted.find(isCount));
  expect(writeOrderedJson(fromWireText(toWireText(call)))).toContain(SCHEMA);
  const result = { modelId: 'A', contextLength: 64, tokenIds: [1], spellings: ['a'] };
  played.say({ type: 'call-answered', callId: Number(Object(call).callId), result });
  expect(await (await answer).json()).toEqual({ input_tokens: 1 });
});

it('a schema reaches a server in place of the tab as it was written', async () => {
  const asked = Promise.withResolvers<string>();
  const models = '{"object":"list","data":[{"id":"m","object":"model"}]}';
  const { url: target } = await listen((request, response) => {
    if (request.method === 'GET') response.setHeader('Content-Type', 'application/json').end(models);
    else void text(request).then(asked.resolve, asked.reject);
  });
  const { bridge, url } = await mountBridge({ forwardTo: { url: target, apiKey: undefined } });
  await bridge.serve.ready();
  const body = `{"input":"Hi","text":{"format":{"type":"json_schema","name":"a","schema":${SCHEMA}}}}`;
  const headers = { 'Content-Type': 'application/json' };
  const leaving = new AbortController();
  const answer = fetch(`${url}/v1/responses`, { method: 'POST', headers, body, signal: leaving.signal });
  expect(await asked.promise).toContain(SCHEMA);
  leaving.abort();
  await expect(answer).rejects.toThrow('aborted');
});
