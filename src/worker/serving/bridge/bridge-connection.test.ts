import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BridgedOutbox } from '../tab-messages.ts';
import { keepBridged } from './bridge-connection.ts';
import { BRIDGE_SUBPROTOCOL } from '../../../protocol/bridge-names.ts';

const TOKEN = 'a0'.repeat(32);

/** A bridge that answers with this for its token, and a browser that makes no socket. */
function connectWith(answer: string) {
  const offered: (readonly string[])[] = [];
  const fetchMock = vi.fn<typeof fetch>(() => Promise.resolve(new Response(answer)));
  vi.stubGlobal('fetch', fetchMock);
  vi.stubGlobal('WebSocket', function refuse(_: URL, protocols: readonly string[]) {
    offered.push(protocols);
    throw new DOMException('refused', 'SecurityError');
  });
  const outbox = new BridgedOutbox({ toAll: () => {}, toClient: () => {} });
  const ended = vi.fn<() => void>();
  void keepBridged('http://localhost:8000/bridge/', { receive: () => {}, forget: () => {} }, outbox).finally(
    ended,
  );
  return { fetchMock, offered, ended };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('offers no socket what is no token: another server answers with a page of its own', async () => {
  const { fetchMock, offered, ended } = connectWith('<!doctype html>');
  await vi.advanceTimersByTimeAsync(1000);
  expect(fetchMock.mock.calls.length).toBeGreaterThan(1);
  expect(offered).toEqual([]);
  expect(ended).not.toHaveBeenCalled();
});

it('looks again where the browser refuses the socket', async () => {
  const { offered, ended } = connectWith(TOKEN);
  await vi.advanceTimersByTimeAsync(1000);
  expect(offered.length).toBeGreaterThan(1);
  expect(offered[0]).toEqual([BRIDGE_SUBPROTOCOL, TOKEN]);
  expect(ended).not.toHaveBeenCalled();
});
