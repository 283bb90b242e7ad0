import type { BenchCase, Group, Setup } from '../bench-case.ts';
import { openReady } from '../open-ready.ts';
import { measurePages } from '../with-pages.ts';
import { NUM_STREAMS, playInView } from './page-in-use.ts';
import { measurePageLoad } from './page-load.ts';

/** The first screen: charts, slots and texts of a run. */
const VIEWPORT = { width: 1280, height: 800 };

export const bench: BenchCase = {
  summary: 'what the page costs to load and to draw',
  rounds: 3,
  hasVersions: true,
  run(chosen, measure) {
    const [streamingMs, drawingMs] = chosen.isShort ? [3000, 1000] : [30_000, 3000];
    return measurePages(
      chosen,
      {},
      async ({ browser, url }): Promise<Omit<Setup, 'browser'>> => {
        const context = await browser.newContext({ viewport: VIEWPORT });
        const { page } = await openReady(context, `${url}/?backend=wasm`);
        const groups: readonly Group[] = [
          {
            caption: 'Loading on slow 4G (150 ms, 1.6 Mbit/s), with a processor four times slower',
            labels: [''],
            columns: [
              { name: 'first contentful paint', unit: 's', digits: 2, shows: 'p50' },
              { name: 'until a prompt can be written', unit: 's', digits: 2, shows: 'p50' },
              { name: 'layout shift', digits: 4, shows: 'max' },
            ],
            subjects: [{ labels: ['first visit'], measure: () => measurePageLoad(browser, url) }],
          },
          {
            caption: `${NUM_STREAMS} requests stream for ${streamingMs / 1000} s, at 1280×800`,
            labels: [''],
            columns: [
              { name: 'frames on time', unit: '%', digits: 1, shows: 'p50' },
              { name: 'longest without a frame', unit: 'ms', digits: 0, shows: 'max' },
              { name: 'tasks over 50 ms', digits: 0, shows: 'max' },
            ],
            subjects: [{ labels: ['in view'], measure: () => playInView(page, streamingMs) }],
          },
          {
            caption: `What drawing costs ${NUM_STREAMS} texts of 32 tokens`,
            labels: [''],
            columns: [{ name: 'tokens/s', digits: 0, shows: 'p50' }],
            ratio: { header: 'over hidden', column: 'tokens/s' },
            subjects: [true, false].map((isHidden) => ({
              labels: [isHidden ? 'hidden' : 'in view'],
              measure: () => playInView(page, drawingMs, isHidden),
            })),
          },
        ];
        return {
          key: 'wasm',
          adapter: 'wasm',
          note: 'Served without compression. A frame is on time at 60 a second, within 4 ms.',
          groups,
          check([loading]) {
            const shift = loading?.rows[0]?.figures['layout shift']?.max ?? 0;
            return shift > 0 ? ['the layout shifts while the page loads'] : [];
          },
        };
      },
      measure,
    );
  },
};
