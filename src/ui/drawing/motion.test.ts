import { afterEach, describe, expect, it, vi } from 'vitest';

import type { BackendInfo } from '../../client/index.ts';
import { createStatus } from '../test-support.ts';
import { hasMotion } from './motion.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const GPU: BackendInfo = {
  name: 'webgpu',
  precision: 'fp16',
  adapter: 'a GPU',
  fallbackReason: '',
};

function moves(backend: BackendInfo | undefined, isReduced = false): boolean {
  vi.stubGlobal('matchMedia', () => ({ matches: isReduced }));
  return hasMotion({ status: createStatus(backend && { backend }) });
}

describe('motion', () => {
  it('is shown if a GPU draws it', () => {
    expect(moves(GPU)).toBe(true);
  });

  it.each([
    ['WASM', { ...GPU, name: 'wasm' as const }],
    ['no model yet', undefined],
  ])('is not shown with %s', (_, backend) => {
    expect(moves(backend)).toBe(false);
  });

  it('is not shown if the reader prefers reduced motion', () => {
    expect(moves(GPU, true)).toBe(false);
  });
});
