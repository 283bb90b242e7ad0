import type { ServeStatus } from '../../worker/client/index.ts';

/**
 * Whether parts of the page may move while text is generated. A motion takes a frame of the display each time, and without a GPU of its
 * own the processor that generates the text would draw them.
 */
export function hasMotion({
  status: { backend },
}: {
  readonly status: Pick<ServeStatus, 'backend'>;
}): boolean {
  const isDrawnByGpu = backend !== undefined && backend.name !== 'wasm' && !backend.isSoftwareAdapter;
  return isDrawnByGpu && !matchMedia('(prefers-reduced-motion: reduce)').matches;
}
