import { describe, expect, it } from 'vitest';
import { clientId, requestId } from '../../batching/generation/test-support.ts';
import { RequestLedger } from './request-ledger.ts';

const [TAB, OTHER] = [clientId('tab'), clientId('other tab')];
const [A, B, C] = [requestId('a'), requestId('b'), requestId('c')];

describe('RequestLedger', () => {
  it('knows whose each request is', () => {
    const ledger = new RequestLedger();
    ledger.add(A, TAB);
    ledger.add(B, OTHER);
    ledger.add(C, TAB);
    expect([A, B, C].map((id) => ledger.ownerOf(id))).toEqual([TAB, OTHER, TAB]);
    expect(ledger.requestsOf(TAB)).toEqual([A, C]);
    expect(ledger.requestsOf(clientId('nobody'))).toEqual([]);
  });

  it('takes a request in once, also after its end, and leaves it to its first owner', () => {
    const ledger = new RequestLedger();
    expect(ledger.add(A, TAB)).toBe(true);
    expect(ledger.add(A, TAB)).toBe(false);
    expect(ledger.add(A, OTHER)).toBe(false);
    expect(ledger.ownerOf(A)).toBe(TAB);
    expect(ledger.requestsOf(OTHER)).toEqual([]);
    ledger.end(A);
    expect(ledger.add(A, TAB)).toBe(false);
    expect(ledger.ownerOf(A)).toBeUndefined();
  });

  it('forgets whose a request was when it ends, and leaves the others', () => {
    const ledger = new RequestLedger();
    ledger.add(A, TAB);
    ledger.add(B, TAB);
    ledger.end(A);
    ledger.end(A);
    ledger.end(C);
    expect(ledger.requestsOf(TAB)).toEqual([B]);
    expect(ledger.add(C, TAB)).toBe(true);
  });

  it('takes a request in again that a client has sent before it was lost, and came back', () => {
    const ledger = new RequestLedger();
    ledger.add(A, TAB);
    ledger.add(B, OTHER);
    ledger.add(C, TAB);
    ledger.end(A);
    ledger.end(B);
    ledger.forgetEnded(TAB);
    // Cancelled for its client, but not in the same turn.
    ledger.end(C, false);
    expect([A, B, C].map((id) => ledger.add(id, TAB))).toEqual([true, false, true]);
  });

  it('remembers the last 4096 that have ended, and no more', () => {
    const ledger = new RequestLedger();
    const ids = Array.from({ length: 4097 }, (_, index) => requestId(`${index}`));
    for (const id of ids) {
      ledger.add(id, TAB);
      ledger.end(id);
    }
    const [oldest, second, ...others] = ids;
    const newest = others.at(-1);
    expect([second, newest].map((id) => id && ledger.add(id, TAB))).toEqual([false, false]);
    expect(oldest && ledger.add(oldest, TAB)).toBe(true);
  });
});
