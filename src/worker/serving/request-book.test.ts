import { describe, expect, it } from 'vitest';
import { clientId, requestId } from '../../batching/generation/test-support.ts';
import { RequestBook } from './request-book.ts';

const [TAB, OTHER] = [clientId('tab'), clientId('other tab')];
const [A, B, C] = [requestId('a'), requestId('b'), requestId('c')];

function createBook(): RequestBook {
  const book = new RequestBook();
  book.welcome(TAB);
  book.welcome(OTHER);
  return book;
}

describe('RequestBook', () => {
  it('knows whose each request is', () => {
    const book = createBook();
    book.add(A, TAB);
    book.add(B, OTHER);
    book.add(C, TAB);
    expect([A, B, C].map((id) => book.ownerOf(id))).toEqual([TAB, OTHER, TAB]);
    expect(book.requestsOf(TAB)).toEqual([A, C]);
    expect(book.requestsOf(clientId('nobody'))).toEqual([]);
  });

  it('takes a request in once, also after its end, and leaves it to its first owner', () => {
    const book = createBook();
    expect(book.add(A, TAB)).toBe(true);
    expect(book.add(A, TAB)).toBe(false);
    expect(book.add(A, OTHER)).toBe(false);
    expect(book.ownerOf(A)).toBe(TAB);
    expect(book.requestsOf(OTHER)).toEqual([]);
    book.end(A);
    expect(book.add(A, TAB)).toBe(false);
    expect(book.ownerOf(A)).toBeUndefined();
  });

  it('forgets whose a request was when it ends, and leaves the others', () => {
    const book = createBook();
    book.add(A, TAB);
    book.add(B, TAB);
    book.end(A);
    book.end(A);
    book.end(C);
    expect(book.requestsOf(TAB)).toEqual([B]);
    expect(book.add(C, TAB)).toBe(true);
  });

  it('takes a request in again that a client has sent before it was lost, and came back', () => {
    const book = createBook();
    book.add(A, TAB);
    book.add(B, OTHER);
    book.add(C, TAB);
    book.end(A);
    book.end(B);
    book.forget(TAB);
    // Cancelled for its client, but not in the same turn.
    book.end(C);
    expect([A, B, C].map((id) => book.add(id, TAB))).toEqual([true, false, true]);
  });

  it('remembers the last 4096 that have ended, and no more', () => {
    const book = createBook();
    const ids = Array.from({ length: 4097 }, (_, index) => requestId(`${index}`));
    for (const id of ids) {
      book.add(id, TAB);
      book.end(id);
    }
    const [oldest, second, ...others] = ids;
    const newest = others.at(-1);
    expect([second, newest].map((id) => id && book.add(id, TAB))).toEqual([false, false]);
    expect(oldest && book.add(oldest, TAB)).toBe(true);
  });
});
