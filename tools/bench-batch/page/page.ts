import { measureAll, type BenchReport } from '../measure.ts';

interface ChromiumMemory {
  readonly usedJSHeapSize: number;
}

declare global {
  interface Window {
    /** There because of the flag `--expose-gc`. */
    gc?: () => void;
    benchBatch?: () => Promise<BenchReport>;
  }
  interface Performance {
    /** Exact because of the flag `--enable-precise-memory-info`. */
    readonly memory?: ChromiumMemory;
  }
}

window.benchBatch = () =>
  measureAll({
    usedHeapBytes() {
      window.gc?.();
      return performance.memory?.usedJSHeapSize ?? Number.NaN;
    },
  });
