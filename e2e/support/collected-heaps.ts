import type { CDPSession, Page } from 'playwright';
import * as v from 'valibot';

/** Bytes of JavaScript. */
export interface CollectedHeaps {
  readonly page: number;
  readonly workers: number;
}

const heapReply = v.object({ result: v.object({ usedSize: v.number() }) });

/** What a page and its workers keep: their heaps after a garbage collection. */
export async function collectedHeaps(page: Page): Promise<CollectedHeaps> {
  const session = await page.context().newCDPSession(page);
  const workers: string[] = [];
  session.on('Target.attachedToTarget', ({ sessionId }) => workers.push(sessionId));
  // Playwright has no session for a worker, so its messages are wrapped in the page's.
  await session.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: false,
  });
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const sizes = await Promise.all(workers.map((worker) => heapOfWorker(session, worker)));
  await session.detach();
  return { page: usedSize, workers: sizes.reduce((sum, size) => sum + size, 0) };
}

/** 0 for a worker that ends meanwhile. */
async function heapOfWorker(session: CDPSession, sessionId: string): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  session.on('Target.detachedFromTarget', (event) => {
    if (event.sessionId === sessionId) resolve(0);
  });
  session.on('Target.receivedMessageFromTarget', (event) => {
    const reply = v.safeParse(heapReply, JSON.parse(event.message));
    if (event.sessionId === sessionId && reply.success) resolve(reply.output.result.usedSize);
  });
  for (const [id, method] of ['HeapProfiler.collectGarbage', 'Runtime.getHeapUsage'].entries()) {
    const message = JSON.stringify({ id, method });
    // It may be gone before it is told.
    session.send('Target.sendMessageToTarget', { sessionId, message }).catch(() => resolve(0));
  }
  return promise;
}
