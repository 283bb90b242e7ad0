import { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { sendInTurns } from './send-in-turns.ts';

const NUM_FILES = 40;
const PIECES = ['a', 'b', 'c'];

/** Keeps what it gets. */
function createResponse(written: string[]): Writable {
  return new Writable({
    write(piece, _encoding, done) {
      written.push(String(piece));
      done();
    },
  });
}

it('a turn of the event loop, which accepts one connection, sends one piece, however many read', async () => {
  const files = Array.from({ length: NUM_FILES }, (): string[] => []);
  const sent = Promise.all(
    files.map((written) => sendInTurns(Readable.from(PIECES), createResponse(written))),
  );
  const numSent = () => files.reduce((sum, { length }) => sum + length, 0);
  const inTurn: number[] = [];
  while (numSent() < NUM_FILES * PIECES.length) {
    const before = numSent();
    await setImmediate();
    inTurn.push(numSent() - before);
  }
  await sent;
  expect(Math.max(...inTurn)).toBe(1);
  expect(files).toEqual(files.map(() => PIECES));
});

it('a reader that reads nothing takes no turns', async () => {
  const stalled = new Writable({ highWaterMark: 1, write: () => undefined });
  void sendInTurns(Readable.from(PIECES), stalled);
  const written: string[] = [];
  await sendInTurns(Readable.from(PIECES), createResponse(written));
  expect(written).toEqual(PIECES);
  stalled.destroy();
});

it('a file is closed when its reader leaves, and a reader is cut off from a file that fails', async () => {
  const file = Readable.from(PIECES);
  const left = createResponse([]);
  const sent = sendInTurns(file, left);
  left.destroy();
  await sent;
  expect(file.destroyed).toBe(true);
  const cut = createResponse([]);
  const failing = new Readable({ read: () => failing.destroy(new Error('EIO')) });
  await sendInTurns(failing, cut);
  expect(cut.destroyed).toBe(true);
});
