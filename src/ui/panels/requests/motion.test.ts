import { describe, expect, it, vi } from 'vitest';

import type { BackendInfo } from '../../../client/index.ts';
import { createStatus, WEBGPU } from '../../testing/test-support.ts';
import { hasMotion } from './motion.ts';

function moves(backend: BackendInfo | undefined, isReduced = false): boolean {
  vi.stubGlobal('matchMedia', () => ({ matches: isReduced }));
  return hasMotion({ status: createStatus(backend && { backend }) });
}

describe('motion', () => {
  it('is shown if a GPU draws it', () => {
    expect(moves(WEBGPU)).toBe(true);
  });

  it.each([
    ['WASM', { ...WEBGPU, name: 'wasm' as const }],
    ['no model yet', undefined],
  ])('is not shown with %s', (_, backend) => {
    expect(moves(backend)).toBe(false);
  });

  it('is not shown if the reader prefers reduced motion', () => {
    expect(moves(WEBGPU, true)).toBe(false);
  });
});
