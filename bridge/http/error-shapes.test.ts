import { expect, it } from 'vitest';
import { startBridge } from '../testing/test-support.ts';

const OPENAI = { error: { type: 'invalid_request_error', message: expect.any(String), param: null } };
const ANTHROPIC = { type: 'error', error: { message: expect.any(String) } };
const OLLAMA = { error: expect.any(String), code: expect.any(String) };

it.each([
  ['DELETE', '/v1/messages', 405, ANTHROPIC],
  ['POST', '/v1/messages/batches', 404, ANTHROPIC],
  ['DELETE', '/api/chat', 405, OLLAMA],
  ['DELETE', '/api/delete', 404, OLLAMA],
  ['POST', '/api/pull', 404, OLLAMA],
  ['GET', '/api/blobs', 404, OLLAMA],
  ['DELETE', '/v1/completions', 405, OPENAI],
  ['POST', '/apis', 404, OPENAI],
])('%s %s is refused in the words of the API of that path', async (method, path, status, body) => {
  const { url } = await startBridge();
  const response = await fetch(url + path, { method });
  expect([response.status, await response.json()]).toMatchObject([status, body]);
});
