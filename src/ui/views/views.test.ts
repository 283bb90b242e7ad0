import { describe, expect, it } from 'vitest';

import {
  DEPLOYMENTS,
  listDeployments,
  readSelected,
  tabOf,
  titleOf,
  unknownViewIn,
  withSelected,
} from './views.ts';

const CHAT_VIEW = 'text-generator/chat';
const JOBS_VIEW = 'text-generator/jobs';

describe('listDeployments', () => {
  it('puts those of the page first and a user’s own after them, by name', () => {
    expect(listDeployments(['zeta', 'house-price', 'echo', 'text-generator', 'adder', 'embedder'])).toEqual([
      'adder',
      'house-price',
      'echo',
      'zeta',
    ]);
  });

  it('leaves out what this build does not serve, once the worker has said so', () => {
    expect(listDeployments(['adder'])).toEqual(['adder']);
    expect(listDeployments([])).toEqual(['adder', 'house-price']);
  });
});

describe('the tabs', () => {
  it('have one for the embedder and the reranker', () => {
    expect(titleOf('embedder')).toBe('Embed');
    for (const search of ['?view=embed', '?deployment=embedder', '?deployment=reranker'])
      expect(readSelected(search)).toBe('embedder');
    expect(withSelected('http://localhost:8000/', 'embedder')).toBe('http://localhost:8000/?view=embed');
  });

  it('have one for all other deployments, the last', () => {
    expect(['text-generator', CHAT_VIEW, 'adder', 'echo', 'unknown'].map(tabOf)).toEqual([
      'text-generator',
      CHAT_VIEW,
      DEPLOYMENTS,
      DEPLOYMENTS,
      DEPLOYMENTS,
    ]);
    expect(titleOf(DEPLOYMENTS)).toBe('Deployments');
  });

  it('name a user’s own deployment as it calls itself', () => {
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

  it.each([
    ['chat', CHAT_VIEW],
    ['jobs', JOBS_VIEW],
  ])('names the %s view by itself', (name, view) => {
    const href = withSelected('http://localhost:8000/?deployment=adder', view);
    expect(href).toBe(`http://localhost:8000/?view=${name}`);
    expect(readSelected(new URL(href).search)).toBe(view);
    expect(withSelected(href, 'adder')).toBe('http://localhost:8000/?deployment=adder');
  });

  it('may ask for a view that there isn’t, which the page says', () => {
    expect(unknownViewIn('?view=chats')).toBe('chats');
    expect(readSelected('?view=chats')).toBe('text-generator');
    for (const search of ['', '?view=text', '?view=chat', '?deployment=unknown'])
      expect(unknownViewIn(search)).toBeUndefined();
  });

  it('asks for the text generator when it says nothing', () => {
    expect(readSelected('')).toBe('text-generator');
  });
});
