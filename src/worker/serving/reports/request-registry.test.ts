import { describe, expect, it } from 'vitest';
import { clientId, requestId } from '../../../batching/generation/test-support.ts';
import type { RequestId } from '../../../protocol/ids.ts';
import { RequestRegistry } from './request-registry.ts';

const [TAB, OTHER] = [clientId('tab'), clientId('other tab')];
const [A, B, C] = [requestId('a'), requestId('b'), requestId('c')];

const submitted = (id: RequestId) => ({ requestId: id, elapsedMs: 0 });

function createRegistry(): RequestRegistry {
  const registry = new RequestRegistry();
  registry.welcome(TAB);
  registry.welcome(OTHER);
  return registry;
}

describe('RequestRegistry', () => {
  it('knows whose each request is', () => {
    const registry = createRegistry();
    registry.add(submitted(A), TAB);
    registry.add(submitted(B), OTHER);
    registry.add(submitted(C), TAB);
    expect([A, B, C].map((id) => registry.ownerOf(id))).toEqual([TAB, OTHER, TAB]);
    expect(registry.requestsOf(TAB)).toEqual([A, C]);
    expect(registry.requestsOf(clientId('nobody'))).toEqual([]);
  });

  it('takes a request in once, also after its end, and leaves it to its first owner', () => {
    const registry = createRegistry();
    expect(registry.add(submitted(A), TAB)).toBe(true);
    expect(registry.add(submitted(A), TAB)).toBe(false);
    expect(registry.add(submitted(A), OTHER)).toBe(false);
    expect(registry.ownerOf(A)).toBe(TAB);
    expect(registry.requestsOf(OTHER)).toEqual([]);
    registry.end(A);
    expect(registry.add(submitted(A), TAB)).toBe(false);
    expect(registry.ownerOf(A)).toBeUndefined();
  });

  it('forgets whose a request was when it ends, and leaves the others', () => {
    const registry = createRegistry();
    registry.add(submitted(A), TAB);
    registry.add(submitted(B), TAB);
    registry.end(A);
    registry.end(A);
    registry.end(C);
    expect(registry.requestsOf(TAB)).toEqual([B]);
    expect(registry.add(submitted(C), TAB)).toBe(true);
  });

  it('takes a request in again that a client has sent before it was lost, and came back', () => {
    const registry = createRegistry();
    registry.add(submitted(A), TAB);
    registry.add(submitted(B), OTHER);
    registry.add(submitted(C), TAB);
    registry.end(A);
    registry.end(B);
    registry.forget(TAB);
    // Cancelled for its client, but not in the same turn.
    registry.end(C);
    expect([A, B, C].map((id) => registry.add(submitted(id), TAB))).toEqual([true, false, true]);
  });

  it('remembers the last 4096 that have ended, and no more', () => {
    const registry = createRegistry();
    const ids = Array.from({ length: 4097 }, (_, index) => requestId(`${index}`));
    for (const id of ids) {
      registry.add(submitted(id), TAB);
      registry.end(id);
    }
    const [oldest, second, ...others] = ids;
    const newest = others.at(-1);
    expect([second, newest].map((id) => id && registry.add(submitted(id), TAB))).toEqual([false, false]);
    expect(oldest && registry.add(submitted(oldest), TAB)).toBe(true);
  });
});
