import { expect, it } from 'vitest';
import { BackPressureError } from '../batching/base/errors.ts';
import { fromWireError, toWireError } from './wire-errors.ts';
import { UpstreamError } from './errors/upstream.ts';
import { toUpstreamError } from './upstream-failure.ts';

const url = 'http://gpu:8000';
const says = (message: string, code?: string) => JSON.stringify({ error: { message, code, type: 'x' } });

it.each([
  [400, says('max_tokens is too large'), 'UPSTREAM_REFUSED', 'max_tokens is too large'],
  [401, says('bad key'), 'UPSTREAM_ACCESS_DENIED', 'TABSERVE_UPSTREAM_API_KEY'],
  [404, says('no such model'), 'UPSTREAM_REFUSED', 'HTTP status 404'],
  [404, '<html>', 'UPSTREAM_BAD_ANSWER', '--upstream names an OpenAI-compatible server'],
  [405, '', 'UPSTREAM_BAD_ANSWER', 'HTTP status 405'],
  [503, '', 'UPSTREAM_UNAVAILABLE', 'HTTP status 503'],
  [502, says('ECONNREFUSED', 'UPSTREAM_UNREACHABLE'), 'UPSTREAM_UNREACHABLE', 'ECONNREFUSED'],
  [502, says('it is no list', 'UPSTREAM_BAD_ANSWER'), 'UPSTREAM_BAD_ANSWER', 'it is no list'],
])('status %d with %j is %s, across the wire too', (status, body, code, text) => {
  const error = fromWireError(toWireError(toUpstreamError(url, { status, body })));
  expect(error).toBeInstanceOf(UpstreamError);
  expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
});

it('too many requests are back pressure, with the time that the upstream asks for', () => {
  const error = fromWireError(
    toWireError(toUpstreamError(url, { status: 429, body: '', retryAfter: '1.5' })),
  );
  expect(error).toBeInstanceOf(BackPressureError);
  expect(error).toMatchObject({ retryAfterMs: 1500, message: expect.stringContaining('in 2 s') });
  expect(toUpstreamError(url, { status: 429, body: '', retryAfter: 'Sat, 21 Nov 2026' })).toMatchObject({
    retryAfterMs: 0,
  });
});
