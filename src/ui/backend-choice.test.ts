import { describe, expect, it } from 'vitest';

import { parseBackendChoice } from './backend-choice.ts';

describe('?backend=', () => {
  it('is auto where it is left out', () => {
    expect(parseBackendChoice('')).toEqual({ backend: 'auto' });
  });

  it.each(['auto', 'webgpu', 'wasm'])('accepts %s', (backend) => {
    expect(parseBackendChoice(`?backend=${backend}`)).toEqual({ backend });
  });

  it.each(['cuda', '', 'WebGPU'])('refuses “%s”, naming the choices', (text) => {
    const { error } = parseBackendChoice(`?backend=${text}`);
    expect(error?.code).toBe('INVALID_OPTION');
    expect(error?.message).toContain('auto, webgpu, wasm');
    expect(error?.message).toContain(`\`${text}\``);
  });
});
