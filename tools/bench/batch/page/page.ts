import type { Laboratory } from '../compare.ts';
import { measureCancel, measureContender } from '../measure.ts';

interface ChromiumMemory {
  readonly usedJSHeapSize: number;
}

declare global {
  interface Window {
    /** There because of the flag `--expose-gc`. */
    gc?: () => void;
    bench: Laboratory;
  }
  interface Performance {
    /** Exact because of the flag `--enable-precise-memory-info`. */
    readonly memory?: ChromiumMemory;
  }
}

window.bench = {
  measureContender: (name) => measureContender(name, usedHeapBytes),
  measureCancel,
};

function usedHeapBytes(): number {
  window.gc?.();
  return performance.memory?.usedJSHeapSize ?? Number.NaN;
}
