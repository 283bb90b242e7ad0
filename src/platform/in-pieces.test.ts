import { expect, it, vi } from 'vitest';
import { inPieces } from './in-pieces.ts';

function* count(name: string, numPieces: number, log: string[]): Generator<void, string> {
  for (let piece = 1; piece <= numPieces; piece++) {
    log.push(`${name} ${piece}`);
    yield;
  }
  return name;
}

// oxlint-disable-next-line require-yield -- it fails at once
function* fail(): Generator<void, string> {
  throw new Error('no');
}

it('pauses before each piece of a work, and runs one work at a time', async () => {
  const log: string[] = [];
  const pause = vi.fn<() => Promise<void>>(() => {
    log.push('pause');
    return Promise.resolve();
  });
  const works = [inPieces(count('a', 2, log), pause), inPieces(count('b', 1, log), pause)];
  expect(await Promise.all(works)).toEqual(['a', 'b']);
  expect(log).toEqual(['pause', 'a 1', 'pause', 'a 2', 'pause', 'pause', 'b 1', 'pause']);
});

it('hands on what a work throws, and runs the next one', async () => {
  const failed = inPieces(fail());
  const next = inPieces(count('next', 1, []));
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('next');
});

it('lets messages of other tabs through between two pieces', async () => {
  const log: string[] = [];
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', ({ data }: MessageEvent<string>) => log.push(data));
  port1.start();
  const work = inPieces(count('piece', 20, log));
  port2.postMessage('message');
  await work;
  port1.close();
  expect(log.indexOf('message')).toBeLessThan(log.indexOf('piece 20'));
  expect(log).toContain('message');
});
