import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';

import { Bridge } from '../../../bridge/bridge.ts';
import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import type { BenchCase, Samples } from '../bench-case.ts';
import { buildPage } from '../build-page.ts';
import { openReady } from '../open-ready.ts';
import { rowOf, type RecordedGroup } from '../record.ts';
import { withBrowser } from '../with-browser.ts';

/** The most that HTTP may add to a call, at the median. */
const MAX_ADDED_MS = 3;

export const bench: BenchCase = {
  summary: 'what HTTP adds to a call in the page',
  rounds: 3,
  async run({ isShort, browserArgs }, measure) {
    let address = '';
    const bridge = new Bridge({ host: 'localhost', url: () => address });
    const site = { root: await buildPage(), args: [...WEBGPU_ARGUMENTS, ...browserArgs], bridge };
    await withBrowser(site, async ({ browser, url, version }) => {
      address = url;
      // No call uses the model, but its load must not disturb them.
      const { page } = await openReady(browser, `${url}/?backend=wasm`);
      await bridge.serve.ready();
      // The connection is kept, as by any client that sends more than one request.
      const agent = new Agent({ keepAlive: true });
      const numCalls = isShort ? 5 : 60;
      await measure({
        key: 'wasm',
        browser: version,
        note: 'Calls of the adder.',
        groups: [
          {
            caption: 'One call after the other',
            labels: ['call'],
            columns: [{ name: 'time', unit: 'ms', digits: 1, shows: 'p50 / p95' }],
            subjects: [
              {
                labels: ['in the page'],
                measure: () => repeat(numCalls, () => page.evaluate(timeCallInPage)),
              },
              { labels: ['over HTTP'], measure: () => repeat(numCalls, () => timeCallOverHttp(url, agent)) },
            ],
          },
        ],
        check: slowCalls,
      });
      agent.destroy();
    });
  },
};

function slowCalls([calls]: readonly RecordedGroup[]): readonly string[] {
  const msOf = (label: string): number => rowOf(calls, [label]).figures['time']?.p50 ?? NaN;
  const addedMs = msOf('over HTTP') - msOf('in the page');
  return addedMs > MAX_ADDED_MS ? [`HTTP adds ${addedMs.toFixed(1)} ms to a call`] : [];
}

async function repeat(count: number, time: () => Promise<number>): Promise<Samples> {
  const times = [];
  for (let call = 0; call < count; call++) times.push(await time());
  return { time: times };
}

async function timeCallOverHttp(url: string, agent: Agent): Promise<number> {
  const startMs = performance.now();
  const [response]: IncomingMessage[] = await once(get(`${url}/adder?number=3`, { agent }), 'response');
  response?.resume();
  if (response) await once(response, 'end');
  return performance.now() - startMs;
}

/** Runs in the page, sent there as text. */
async function timeCallInPage(): Promise<number> {
  const startMs = performance.now();
  await window.tabserve.getHandle('adder').remote(3);
  return performance.now() - startMs;
}
