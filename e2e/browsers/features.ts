import type { DrivenTab } from './driven-tab.ts';

/** Optional features of a browser that Tabserve uses, and whether this browser has them. */
export type Features = Readonly<Record<string, boolean>>;

/** As the page sees them; a worker may have less. */
export function readFeatures(tab: DrivenTab): Promise<Features> {
  return tab.evaluate(() => ({
    WebGPU: 'gpu' in navigator,
    'JSPI (WebAssembly stack switching)': 'Suspending' in WebAssembly,
    'cross-origin isolation': crossOriginIsolated,
    'SharedArrayBuffer (WASM threads)': 'SharedArrayBuffer' in globalThis,
    BroadcastChannel: 'BroadcastChannel' in globalThis,
    'Web Locks': 'locks' in navigator,
    'OPFS (stored models)': 'storage' in navigator && 'getDirectory' in navigator.storage,
    'storage estimates': 'storage' in navigator && 'estimate' in navigator.storage,
    'IndexedDB (history)': 'indexedDB' in globalThis,
    'Trusted Types': 'trustedTypes' in globalThis,
    'streams that can be iterated': Symbol.asyncIterator in ReadableStream.prototype,
  }));
}

export function describeFeatures(features: Features): string {
  const named = (isThere: boolean): string =>
    Object.keys(features)
      .filter((name) => features[name] === isThere)
      .join(', ') || 'nothing';
  return `has ${named(true)}; lacks ${named(false)}`;
}
