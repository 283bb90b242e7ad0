import { describe, expect, it } from 'vitest';

import { listDeployments, readSelected, titleOf, withSelected } from './selected-deployment.ts';

describe('listDeployments', () => {
  it('puts those of the page first and a user’s own after them, by name', () => {
    expect(listDeployments(['zeta', 'house-price', 'echo', 'adder'])).toEqual([
      'text-generator',
      'adder',
      'house-price',
      'echo',
      'zeta',
    ]);
  });

  it('shows no tab for what this build does not serve, once the worker has said so', () => {
    expect(listDeployments(['adder'])).toEqual(['text-generator', 'adder']);
    expect(listDeployments([])).toEqual(['text-generator', 'adder', 'house-price']);
  });

  it('names a user’s own as it calls itself', () => {
    expect(['text-generator', 'house-price', 'echo'].map(titleOf)).toEqual(['Text', 'House price', 'echo']);
  });
});

describe('the address', () => {
  it('brings the choice back, and keeps its other parameters', () => {
    const href = withSelected('http://localhost:8000/?backend=wasm', 'adder');
    expect(href).toBe('http://localhost:8000/?backend=wasm&deployment=adder');
    expect(readSelected(new URL(href).search)).toBe('adder');
    expect(withSelected(href, 'text-generator')).toBe('http://localhost:8000/?backend=wasm');
  });

  it('asks for the text generator when it says nothing', () => {
    expect(readSelected('')).toBe('text-generator');
  });
});
