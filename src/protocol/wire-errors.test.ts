import { describe, expect, it } from 'vitest';
import { InvalidOptionError, RequestCancelledError } from '../batching/base/errors.ts';
import { noWebGpuAdapter } from './errors/runtime-messages.ts';
import { OverrideEndedError, OverrideHeldError } from './errors/tabs.ts';
import { backPressure, crowd } from '../batching/queue/queue-errors.ts';
import { requestTimedOut } from './errors/deployment-messages.ts';
import { fromWireError, inputOf, ofInput, TabserveError, toWireError } from './wire-errors.ts';
import { unknownOption } from '../batching/base/unknown-option-error.ts';
import { emptyPrompt, promptTooLong } from './errors/deployment-messages.ts';
import { modelFileMissing } from './errors/model-messages.ts';

describe('the wire', () => {
  it.each([
    emptyPrompt(),
    promptTooLong(600, 512, 511),
    InvalidOptionError.of('logitBias[262]', 'a number', 'x'),
    crowd(4, 2),
    unknownOption('size', ['n', 'stop']),
    RequestCancelledError.because('why'),
    requestTimedOut(5),
    modelFileMissing('http://localhost/config.json', 'HTTP status 404'),
    noWebGpuAdapter('none'),
    OverrideHeldError.by('another'),
    OverrideEndedError.bySuspension(),
    backPressure({ numQueuedRequests: 3, maxQueuedRequests: 3, retryAfterMs: 12.5 }),
  ])('carries a $name across with its class, code, message and details', (error) => {
    const arrived = fromWireError(structuredClone(toWireError(error)));
    expect(arrived).toBeInstanceOf(error.constructor);
    expect(arrived).toMatchObject({ name: error.name, code: error.code, message: error.message });
    expect(toWireError(arrived)).toEqual(toWireError(error));
  });

  it('carries the name of an option', () => {
    const { param } = toWireError(InvalidOptionError.of('logitBias[262]', 'a number', 'x'));
    expect(param).toBe('logitBias');
    expect(fromWireError({ code: 'UNKNOWN_OPTION', message: 'no', param: 'size' })).toMatchObject({
      param: 'size',
    });
  });

  it("names the place of an input, and keeps the error's class, code and option", () => {
    const named = ofInput(InvalidOptionError.of('input', 'a number', 'x'), 3);
    expect(fromWireError(toWireError(named))).toMatchObject({ name: 'InvalidOptionError', param: 'input' });
    expect(named.message).toMatch(/^`inputs\[3\]`: Expected `input` to be a number/);
    expect(inputOf(named)).toMatchObject({ place: '3', message: expect.stringMatching(/^Expected/) });
    const cancelled = RequestCancelledError.because('why');
    expect([ofInput(cancelled, 3), ofInput(named, undefined)]).toEqual([cancelled, named]);
  });

  it('carries an unknown code as a TabserveError', () => {
    const arrived = fromWireError({ code: 'toString', message: 'from a later version' });
    expect(arrived).toBeInstanceOf(TabserveError);
    expect(arrived).toMatchObject({ code: 'toString', message: 'from a later version' });
  });

  it.each([
    [new TypeError('a bug'), 'a bug'],
    ['thrown text', 'thrown text'],
    [Object.assign(new Error('n'), { code: 5 }), 'n'],
  ])('calls %s an internal error', (thrown, message) => {
    expect(toWireError(thrown)).toEqual({ code: 'INTERNAL_ERROR', message });
  });
});
