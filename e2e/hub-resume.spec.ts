import type { Page } from 'playwright/test';

import type { Fault, HubRequest, HubServer } from '../tools/hub-server/hub-server.ts';
import { expectReferenceTokens } from './support/expect-reference.ts';
import { loadModel, storedModels, test, TWIN, twinFiles, WEIGHTS } from './support/hub-test.ts';
import { runSeed, seededRandom } from './support/seeded-random.ts';
import { ANY_BACKEND, expect, IS_WHOLE } from './support/test.ts';

type KillKind = 'connection cut' | 'tab closed' | '503';

interface Kill {
  /** Bytes of the weights that the hub has sent when it happens. */
  readonly at: number;
  readonly kind: KillKind;
}

interface ByteRange {
  readonly begin: number;
  readonly end: number;
}

const NUM_KILLS = IS_WHOLE ? 10 : 3;
/** By then the header is there, with the bytes that come along. */
const FIRST_KILL = 70_000;
/** Answers in a row that are not the file. */
const NUM_503 = 2;
const KINDS: readonly KillKind[] = ['connection cut', 'tab closed', '503'];
const SIZE = twinFiles().get(WEIGHTS)?.length ?? 0;
/** The hub asks before each piece that a connection sends: behind this, the last ones may be on their way. */
const LAST_KILL = SIZE - FIRST_KILL;

/** Ends downloads at the given offsets, on all connections at once. */
class Killer {
  readonly #hub: HubServer;
  readonly #kills: Kill[];
  /** From the moment that a kill is due until it strikes. */
  #isHeld = false;
  #num503 = 0;
  #current = Promise.withResolvers<Kill>();
  #strike = Promise.withResolvers<false>();

  constructor(hub: HubServer, kills: readonly Kill[]) {
    this.#hub = hub;
    this.#kills = [...kills];
    hub.fault = (request) => this.#fault(request);
  }

  /** Resolves when the next kill is due. Every connection then stalls. */
  get due(): Promise<Kill> {
    return this.#current.promise;
  }

  /** Every connection ends. */
  strike({ kind }: Kill): void {
    if (kind === '503') this.#num503 = NUM_503;
    this.#isHeld = false;
    this.#strike.resolve(false);
    this.#current = Promise.withResolvers();
    this.#strike = Promise.withResolvers();
  }

  #fault(request: HubRequest): Fault | undefined {
    if (request.path !== WEIGHTS) return undefined;
    if (this.#num503 > 0) {
      this.#num503 -= 1;
      return { status: 503, headers: { 'Retry-After': '0' } };
    }
    return request.kind === 'content' ? { gate: () => this.#gate() } : undefined;
  }

  #gate(): boolean | Promise<false> {
    const [next] = this.#kills;
    if (!this.#isHeld && next && bytesSentIn(this.#hub.requests) >= next.at) {
      this.#kills.shift();
      this.#isHeld = true;
      this.#current.resolve(next);
    }
    return this.#isHeld ? this.#strike.promise : true;
  }
}

test(
  `a download that is killed at ${NUM_KILLS} points fetches only what is missing each time`,
  { tag: ANY_BACKEND },
  async ({ site, hub }) => {
    const random = seededRandom(runSeed());
    const kills = Array.from({ length: NUM_KILLS }, (_, i): Kill => ({
      at: FIRST_KILL + Math.floor(random() * (LAST_KILL - FIRST_KILL)),
      kind: KINDS[i % KINDS.length] ?? '503',
    })).toSorted((a, b) => a.at - b.at);
    const killer = new Killer(hub, kills);
    let numStruck = 0;
    for (let isLoaded = false; !isLoaded;) {
      const tab = await site.open();
      await tab.ready();
      // The download must fetch exactly the ranges that the journal lacks.
      const present = await journaled(tab.page);
      const numBefore = hub.requests.length;
      const delivered = (): ByteRange[] =>
        hub.requests
          .slice(numBefore)
          .filter(({ kind }) => kind === 'content')
          .map(({ begin, bytesSent }) => ({ begin, end: begin + bytesSent }));
      const loading = loadModel(tab, TWIN, { hub: hub.url });
      loading.catch(() => {});
      for (;;) {
        const end = await Promise.race([loading, killer.due]);
        if ('loads' in end) {
          expect(end.value?.model?.id).toBe(TWIN);
          isLoaded = true;
          break;
        }
        // Wait until the client has read all sent bytes, because bytes in the network would be lost anyway.
        const bytesOnTheirWay = async (): Promise<number> =>
          bytesOf([...present, ...delivered()]) - ((await tab.status()).load?.loaded ?? 0);
        await expect.poll(bytesOnTheirWay, `bytes on their way, ${end.kind} at ${end.at}`).toBe(0);
        numStruck += 1;
        if (end.kind === 'tab closed') await site.close(tab);
        killer.strike(end);
        if (end.kind === 'tab closed') break;
      }
      expectDisjoint([...present, ...delivered()]);
      if (isLoaded) {
        expect(bytesOf([...present, ...delivered()])).toBe(SIZE);
        await expectReferenceTokens(tab);
        expect(await storedModels(tab)).toMatchObject([{ id: TWIN, dtype: expect.any(String) }]);
      }
    }
    console.log(
      `    ${SIZE} bytes, killed at ${kills.map(({ at, kind }) => `${at} (${kind})`).join(', ')}: ` +
        `the hub has sent ${bytesSentIn(hub.requests)} in ${hub.requests.length} requests`,
    );
    expect(numStruck).toBe(NUM_KILLS);
  },
);

function bytesOf(ranges: readonly ByteRange[]): number {
  return ranges.reduce((sum, { begin, end }) => sum + end - begin, 0);
}

function bytesSentIn(requests: readonly HubRequest[]): number {
  return requests.filter(({ kind }) => kind === 'content').reduce((sum, { bytesSent }) => sum + bytesSent, 0);
}

/** No byte is sent that is there, and none twice. */
function expectDisjoint(ranges: readonly ByteRange[]): void {
  const inOrder = ranges.filter(({ begin, end }) => begin < end).toSorted((a, b) => a.begin - b.begin);
  for (const [i, { begin }] of inOrder.entries()) {
    expect(begin, 'the end of what was sent before').toBeGreaterThanOrEqual(inOrder[i - 1]?.end ?? 0);
  }
}

/** The byte ranges in the journal of the weights; none without a journal. */
async function journaled(page: Page): Promise<readonly ByteRange[]> {
  const values = await page.evaluate(async (name) => {
    const root = await navigator.storage.getDirectory();
    // The worker makes its folders at the first download.
    const options = { create: true };
    const parts = await (
      await root.getDirectoryHandle('tabserve', options)
    ).getDirectoryHandle('parts', options);
    for await (const folder of parts.values()) {
      if (!('getFileHandle' in folder)) continue;
      const handle = await folder.getFileHandle(`${name}.journal`);
      const bytes = await (await handle.getFile()).arrayBuffer();
      return [...new Float64Array(bytes)];
    }
    return [];
  }, WEIGHTS);
  return Array.from({ length: values.length / 2 }, (_, i) => ({
    begin: values[2 * i] ?? 0,
    end: values[2 * i + 1] ?? 0,
  }));
}
