import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, it, vi } from 'vitest';

import { FakeClock } from '../../src/batching/testing/fake-clock.ts';
import { listen } from '../testing/test-support.ts';
import { EventStream } from './event-stream.ts';
import { Exchange } from './exchange.ts';
import { HttpError } from '../../src/protocol/openai/http-error.ts';

/** Returns the text that a handler sends and the reason of a failure. The client reads either all or nothing. */
async function stream(handle: (events: EventStream, exchange: Exchange) => Promise<void>, isRead = true) {
  const outcome = Promise.withResolvers<unknown>();
  const { port, close } = await listen((request, response) => {
    const exchange = new Exchange(request, response, new URL('http://localhost/'), '');
    outcome.resolve(exchange.run(() => handle(new EventStream(exchange), exchange)));
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  let text = '';
  if (isRead) socket.on('data', (data) => (text += String(data)));
  socket.on('error', () => undefined);
  const reason = await outcome.promise;
  if (isRead) await once(socket, 'close');
  socket.destroy();
  close();
  return { reason, text };
}

it('sends its status with the first event, and the end as one of its own', async () => {
  const { text } = await stream((events) => {
    events.send({ a: 1 });
    events.end();
    return Promise.resolve();
  });
  expect(text).toContain('HTTP/1.1 200 OK');
  expect(text).toContain('data: {"a":1}\n\n');
  expect(text).toContain('data: [DONE]\n\n');
});

it('sends its headers when it opens, and a comment for every 15 s of silence', async () => {
  const clock = new FakeClock();
  const { text } = await stream((_, exchange) => {
    const events = new EventStream(exchange, undefined, clock);
    events.open();
    expect(exchange.response.headersSent).toBe(true);
    expect(exchange.hasContent).toBe(false);
    clock.advance(14_999);
    clock.advance(1);
    clock.advance(15_000);
    events.send({ a: 1 });
    clock.advance(10_000);
    events.send({ b: 2 });
    clock.advance(14_999);
    events.end();
    clock.advance(60_000);
    return Promise.resolve();
  });
  const lines = text.match(/: keep-alive|data: [^\n]*/g);
  expect(lines).toEqual([': keep-alive', ': keep-alive', 'data: {"a":1}', 'data: {"b":2}', 'data: [DONE]']);
  expect(clock.pendingTimers).toBe(0);
});

it('has no timer left when its client has gone', async () => {
  const clock = new FakeClock();
  await stream(async (_, exchange) => {
    new EventStream(exchange, undefined, clock).open();
    expect(clock.pendingTimers).toBe(1);
    exchange.response.destroy();
    await once(exchange.response, 'close');
  });
  expect(clock.pendingTimers).toBe(0);
});

it('answers what fails before the first event with a status, and what fails later with an event', async () => {
  const error = new HttpError(429, 'full', { code: 'BACK_PRESSURE' });
  const early = await stream(() => Promise.reject(error));
  expect(early.text).toContain('HTTP/1.1 429 ');
  const late = await stream((events) => {
    events.send({ a: 1 });
    return Promise.reject(error);
  });
  expect(late.text).toContain('HTTP/1.1 200 OK');
  expect(late.text).toContain('data: {"error":{"message":"full","type":"rate_limit_error"');
  expect(late.reason).toBe(error);
});

it('sends nothing after its end', async () => {
  const { text, reason } = await stream((events, exchange) => {
    events.send({ a: 1 });
    exchange.sendError(new HttpError(503, 'stopping', { code: 'SERVER_STOPPING' }));
    const write = vi.spyOn(exchange.response, 'write');
    events.send({ b: 2 });
    expect(write).not.toHaveBeenCalled();
    return Promise.resolve();
  });
  expect(reason).toBeUndefined();
  expect(text).not.toContain('"b"');
});

it('cuts a client that reads nothing of it', async () => {
  let numSent = 0;
  const { reason } = await stream(async (events, { signal }) => {
    while (!signal.aborted && numSent < 10_000) {
      events.send('x'.repeat(2 ** 16));
      numSent += 1;
      await new Promise((resolve) => void setImmediate(resolve));
    }
    signal.throwIfAborted();
  }, false);
  expect(reason).toMatchObject({ name: 'DisconnectedError' });
  expect(numSent).toBeLessThan(1000);
});

it('gives a client that has stopped reading its time once, however much more there is for it', async () => {
  const { reason } = await stream(async (events, { response }) => {
    const isStalled = () => response.writableLength > 2 ** 18;
    while (!isStalled()) {
      events.send('x'.repeat(1024));
      await new Promise((resolve) => void setImmediate(resolve));
    }
    const { socket } = response;
    if (!socket) throw new Error('The client has gone');
    expect(socket.timeout).toBe(30_000);
    const setTimeout = vi.spyOn(socket, 'setTimeout');
    const numListeners = response.listenerCount('drain');
    for (let numSent = 0; numSent < 100; numSent += 1) events.send('x'.repeat(1024));
    events.end();
    expect(setTimeout).not.toHaveBeenCalled();
    expect(response.listenerCount('drain')).toBe(numListeners);
  }, false);
  expect(reason).toBeUndefined();
});

it('gives a client time for the end as well', async () => {
  const { reason } = await stream((events, { response: { socket } }) => {
    events.send({ a: 1 });
    expect(socket?.timeout).toBeFalsy();
    events.end();
    expect(socket?.timeout).toBe(30_000);
    return Promise.resolve();
  });
  expect(reason).toBeUndefined();
});
