import { expect, it } from 'vitest';
import { BackPressureError } from '../batching/base/errors.ts';
import { fromWireError, toWireError } from './wire-errors.ts';
import { ServerError } from './errors/server.ts';
import { toServerError } from './server-failure.ts';

const url = 'http://gpu:8000';
const path = '/v1/completions';
const says = (message: string, code?: string) => JSON.stringify({ error: { message, code, type: 'x' } });

it.each([
  [400, says('max_tokens is too large'), 'SERVER_REFUSED', 'max_tokens is too large'],
  [401, says('bad key'), 'SERVER_ACCESS_DENIED', 'TABSERVE_UPSTREAM_API_KEY'],
  [404, says('no such model'), 'SERVER_REFUSED', 'HTTP status 404'],
  [404, '<html>', 'SERVER_BAD_ANSWER', 'the address of an OpenAI-compatible server'],
  [405, '', 'SERVER_BAD_ANSWER', 'HTTP status 405'],
  [503, '', 'SERVER_UNAVAILABLE', 'HTTP status 503'],
  [502, says('ECONNREFUSED', 'SERVER_UNREACHABLE'), 'SERVER_UNREACHABLE', 'ECONNREFUSED'],
  [502, says('it is no list', 'SERVER_BAD_ANSWER'), 'SERVER_BAD_ANSWER', 'it is no list'],
])('status %d with %j is %s, across the wire too', (status, body, code, text) => {
  const error = fromWireError(toWireError(toServerError(url, { path, status, body })));
  expect(error).toBeInstanceOf(ServerError);
  expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
});

it('too many requests are back pressure, with the time that the server asks for', () => {
  const error = fromWireError(
    toWireError(toServerError(url, { path, status: 429, body: '', retryAfter: '1.5' })),
  );
  expect(error).toBeInstanceOf(BackPressureError);
  expect(error).toMatchObject({ retryAfterMs: 1500, message: expect.stringContaining('in 2 s') });
  expect(toServerError(url, { path, status: 429, body: '', retryAfter: 'Sat, 21 Nov 2026' })).toMatchObject({
    retryAfterMs: 0,
  });
});

it.each([
  ['{"detail":"Not Found"}', 'SERVER_LACKS_PATH'],
  [says('Not Found'), 'SERVER_LACKS_PATH'],
  [says('File Not Found'), 'SERVER_LACKS_PATH'],
  [says('The model `bert` does not exist.'), 'SERVER_REFUSED'],
])('404 with %j at a path that not every server has is %s', (body, code) => {
  expect(toServerError(url, { path: '/v1/rerank', status: 404, body })).toMatchObject({ code });
});

it.each([
  ['INVALID_OPTION', 'INVALID_OPTION'],
  ['NO_CHAT_TEMPLATE', 'NO_CHAT_TEMPLATE'],
  ['context_length_exceeded', 'PROMPT_TOO_LONG'],
])('the code %s of another Tabserve is the error of a worker', (given, code) => {
  const body = JSON.stringify({ error: { message: '`n` is wrong', code: given, param: 'n' } });
  const error = toServerError(url, { path, status: 400, body });
  expect(error).toMatchObject({ code, message: '`n` is wrong' });
  expect(error).toEqual(fromWireError({ code, message: '`n` is wrong', param: 'n' }));
});
