import { describe, expect, it, onTestFinished } from 'vitest';

import { engineErrors, functionsOf } from '../src/client/testing/wrong-arguments.ts';
import { Bridge, startServer } from './index.ts';

const BRIDGE = { host: 'localhost', url: () => '' };
const SERVER = { host: 'localhost', port: 0, root: 'nowhere' };

type Given = Parameters<typeof engineErrors>[0];

const construct: Given = (options) => Reflect.construct(Bridge, [options]);
const start: Given = (options) => Reflect.apply(startServer, undefined, [options]);

/** Its methods, with which it is never asked anything. */
function methodsOfBridge() {
  const bridge = new Bridge(BRIDGE);
  onTestFinished(() => bridge.close());
  return functionsOf(bridge).map(([name, call]) => [name, call.bind(bridge)] as const);
}

describe('the entry tabserve/node', () => {
  it.each([
    [
      'new Bridge',
      construct,
      /^Expected `options` to be an object with host, url for new Bridge\(\), got `undefined`/,
    ],
    [
      'startServer',
      start,
      /^Expected `options` to be an object with host, port, root for startServer\(\), got `undefined`/,
    ],
  ])('%s() refuses what it can do nothing with, by name', async (_name, call, message) => {
    expect(await engineErrors(call)).toEqual([]);
    await expect((async () => call())()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringMatching(message),
    });
  });

  it('methods of a bridge refuse what they can do nothing with', async () => {
    const methods = methodsOfBridge();
    const outcomes = await Promise.all(methods.map(async ([name, call]) => [name, await engineErrors(call)]));
    // The docs don't have `nothingAt`.
    expect(outcomes.filter(([name]) => name !== 'nothingAt')).toEqual([
      ['handle', []],
      ['upgrade', []],
      ['drain', []],
    ]);
  });

  it.each([
    [construct, { ...BRIDGE, host: '' }, 'host'],
    [construct, { host: 'localhost' }, 'url'],
    [construct, { ...BRIDGE, url: 'http://localhost' }, 'url'],
    [construct, { ...BRIDGE, allowedOrigins: 'https://a.example' }, 'allowedOrigins'],
    [construct, { ...BRIDGE, allowedOrigins: [5] }, 'allowedOrigins'],
    [construct, { ...BRIDGE, hub: ['nowhere'] }, 'hub'],
    [construct, { ...BRIDGE, hub: null }, 'hub'],
    [construct, { ...BRIDGE, graceMs: '5' }, 'graceMs'],
    [construct, { ...BRIDGE, graceMs: Infinity }, 'graceMs'],
    [construct, { ...BRIDGE, knobs: { maxBatchSize: 0 } }, 'maxBatchSize'],
    [construct, { ...BRIDGE, batchFolder: 5 }, 'batchFolder'],
    [construct, { ...BRIDGE, maxUploadBytes: -1 }, 'maxUploadBytes'],
    [construct, { ...BRIDGE, forwardTo: 'http://localhost' }, 'forwardTo'],
    [construct, { ...BRIDGE, forwardTo: { url: 'localhost:8000' } }, 'forwardTo'],
    [construct, { ...BRIDGE, allowsAdmin: 'no' }, 'allowsAdmin'],
    [construct, { ...BRIDGE, log: true }, 'log'],
    [start, { ...SERVER, port: '8000' }, 'port'],
    [start, { ...SERVER, port: 65_536 }, 'port'],
    [start, { ...SERVER, host: undefined }, 'host'],
    [start, { ...SERVER, root: null }, 'root'],
    [start, { ...SERVER, entry: 5 }, 'entry'],
    [start, { ...SERVER, bridge: {} }, 'bridge'],
    [start, { ...SERVER, maxConnections: 0 }, 'maxConnections'],
  ])('refuses a wrong option by name: %# %o', async (call, options, param) => {
    await expect((async () => call(options))()).rejects.toMatchObject({ code: 'INVALID_OPTION', param });
  });

  it.each([
    [construct, { ...BRIDGE, allowedOrigin: [] }, /^Unknown option `allowedOrigin`: .*allowedOrigins/],
    [start, { ...SERVER, prot: 0 }, /^Unknown option `prot`: .*port/],
  ])('names the option that an unknown one was to be: %#', async (call, options, message) => {
    await expect((async () => call(options))()).rejects.toMatchObject({
      code: 'UNKNOWN_OPTION',
      message: expect.stringMatching(message),
    });
  });
});
