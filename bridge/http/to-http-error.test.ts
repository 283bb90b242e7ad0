import { expect, it } from 'vitest';

import { InvalidOptionError } from '../../src/batching/base/errors.ts';
import { backPressure } from '../../src/batching/queue/queue-errors.ts';
import { fromWireError } from '../../src/protocol/wire-errors.ts';
import { toHttpError } from './to-http-error.ts';

it('names the option that is wrong', () => {
  const error = toHttpError(InvalidOptionError.of('prompt[3]', 'a token', 'x'));
  expect(error).toMatchObject({ status: 400, param: 'prompt', type: 'invalid_request_error' });
});

it('says in whole seconds when to come again', () => {
  const details = { numQueuedRequests: 3, maxQueuedRequests: 3, retryAfterMs: 1200 };
  const error = toHttpError(backPressure(details));
  expect(error).toMatchObject({ status: 429, headers: { 'Retry-After': '2' } });
});

it("tells a deployment's own failure, and nothing of the bridge's", () => {
  const own = toHttpError(fromWireError({ code: 'INTERNAL_ERROR', message: 'no such house' }));
  expect(own).toMatchObject({ status: 500, message: 'no such house', type: 'server_error' });
  for (const error of [
    new TypeError('secret'),
    Object.assign(new Error('secret'), { code: 'EPIPE' }),
    'secret',
  ]) {
    expect(toHttpError(error)).toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
    expect(JSON.stringify(toHttpError(error))).not.toContain('secret');
  }
});

it.each(['constructor', '__proto__'])('a deployment’s own code is an error of the server: %s', (code) => {
  expect(toHttpError(fromWireError({ code, message: 'own' }))).toMatchObject({ status: 500, code });
});

it.each([
  ['SERVER_REFUSED', 400],
  ['NOT_AT_SERVER', 400],
  ['SERVER_ACCESS_DENIED', 502],
  ['SERVER_BAD_ANSWER', 502],
  ['SERVER_UNREACHABLE', 502],
  ['SERVER_UNAVAILABLE', 503],
  ['PAGE_OUTDATED', 503],
  ['NO_MODEL', 503],
  ['HUB_UNREACHABLE', 503],
  ['MODEL_NOT_FOUND', 503],
])('tells what is no fault of the bridge, with its remedy: %s', (code, status) => {
  const error = toHttpError(fromWireError({ code, message: 'start it with a key' }));
  expect(error).toMatchObject({ status, code, message: 'start it with a key' });
});
