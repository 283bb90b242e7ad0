import { describe, expect, it } from 'vitest';

import { refusalOf } from './use-load-model.ts';

const codedError = (code: string, message: string): Error => Object.assign(new Error(message), { code });

describe('the refusal of a load', () => {
  const gone = { code: 'MODEL_NOT_FOUND', message: 'The hub has no a/b.' };

  it('is shown where no tab shows it yet', () => {
    expect(refusalOf(codedError(gone.code, gone.message), undefined)).toMatchObject(gone);
  });

  it('is not shown twice', () => {
    expect(refusalOf(codedError(gone.code, gone.message), { id: 'a/b', error: gone })).toBeUndefined();
  });

  it.each([
    ['INVALID_OPTION', 'The id has a space.'],
    ['MODEL_NOT_FOUND', 'The hub has no c/d.'],
  ])('is shown beside an older one of another kind or of another model: %s', (code, message) => {
    expect(refusalOf(codedError(code, message), { id: 'a/b', error: gone })).toMatchObject({ code, message });
  });

  it('is none where the load was cancelled', () => {
    expect(refusalOf(codedError('LOAD_CANCELLED', 'It was asked for.'), undefined)).toBeUndefined();
  });
});
