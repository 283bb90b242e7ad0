import { describe, expect, it } from 'vitest';

import { parseBackendChoice, withBackend } from './backend-choice.ts';

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

  it('is all that changes in an address that asks for another one', () => {
    const rest = '&hub=http%3A%2F%2F127.0.0.1%3A9%2F&deployment=adder#prompt=Once+upon&seed=7';
    expect(withBackend(`http://localhost:8000/?backend=webgpu${rest}`, 'wasm')).toBe(
      `http://localhost:8000/?backend=wasm${rest}`,
    );
    expect(withBackend('http://localhost:8000/#prompt=Once', 'auto')).toBe(
      'http://localhost:8000/?backend=auto#prompt=Once',
    );
  });
});
