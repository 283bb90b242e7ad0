import type { Browser, Page } from 'playwright';

import { residentBytes } from '../../tools/bench/process-memory.ts';

/** Bytes. */
export interface MemorySample {
  readonly atMs: number;
  /** JavaScript's heaps of all pages, after a garbage collection. */
  readonly heap: number;
  /** Memory of all processes of pages and workers; 0 where it is unknown. */
  readonly renderers: number;
  /** Memory of the GPU process. With a software adapter, it includes the GPU's memory. */
  readonly gpu: number;
}

export async function sampleMemory(browser: Browser, pages: readonly Page[]): Promise<MemorySample> {
  const heaps = await Promise.all(pages.map(heapOf));
  return {
    atMs: performance.now(),
    heap: sumOf(heaps),
    renderers: sumOf(await residentBytes(browser, 'renderer')),
    gpu: sumOf(await residentBytes(browser, 'GPU')),
  };
}

/** Slope in bytes per minute, by least squares over the second half of the samples, when everything is warm. */
export function slopeOf(samples: readonly MemorySample[], name: 'heap' | 'renderers' | 'gpu'): number {
  const late = samples.slice(Math.floor(samples.length / 2));
  const minutes = late.map(({ atMs }) => atMs / 60_000);
  const meanMinutes = sumOf(minutes) / late.length;
  const meanBytes = sumOf(late.map((sample) => sample[name])) / late.length;
  const covariance = sumOf(
    late.map((sample, index) => ((minutes[index] ?? 0) - meanMinutes) * (sample[name] - meanBytes)),
  );
  const variance = sumOf(minutes.map((minute) => (minute - meanMinutes) ** 2));
  return variance === 0 ? 0 : covariance / variance;
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
