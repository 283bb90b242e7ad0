import type { ServeView } from '../../state/serve-store.ts';

/**
 * Whether parts of the page may move while text is generated. Motion draws every frame of the display, and without a hardware GPU
 * the processor that generates the text would draw those frames too.
 */
export function hasMotion({ status: { backend } }: Pick<ServeView, 'status'>): boolean {
  const isDrawnByGpu = backend !== undefined && backend.name !== 'wasm';
  return isDrawnByGpu && !matchMedia('(prefers-reduced-motion: reduce)').matches;
}
