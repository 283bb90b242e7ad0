import { expect, it } from 'vitest';

import { writeOrderedJson } from '../src/batching/base/ordered-json.ts';
import { fromWireText, toWireText } from '../src/protocol/wire-text.ts';
import { resolveOptions } from '../src/protocol/resolve-options.ts';
import { createModelInfo } from '../src/worker/test-support.ts';
import { chatCompletionsRoute } from './routes/openai/generation-routes.ts';
import { PlayedRoute } from './testing/played-tab.ts';

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
