import type { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

// Node accepts one connection in a turn of the event loop. A turn that sends a piece to each of a thousand readers would keep
// newcomers waiting for many seconds, so each turn sends one piece of one file.

const waiting: (() => void)[] = [];

function startNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(startNext);
}

function turn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.push(resolve);
  if (waiting.length === 1) setImmediate(startNext);
  return promise;
}

async function* inTurns(file: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const piece of file) {
    await turn();
    yield piece;
  }
}

/** Sends a file. It is closed when the client leaves; one that can't be read cuts the answer. */
export function sendInTurns(file: Readable, response: Writable): Promise<void> {
  return pipeline(file, inTurns, response).catch(() => void response.destroy());
}

/** Takes over a file that begins to be piped. */
export function takeOverPipe(file: Readable, response: ServerResponse): void {
  // `pipe` resumes the file at the end of this turn, before it is open.
  process.nextTick(() => {
    file.unpipe(response);
    void sendInTurns(file, response);
  });
}
