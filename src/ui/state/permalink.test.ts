import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { EMPTY_GENERATION_TEXTS, GENERATION_FIELD_NAMES } from './generation-fields.ts';
import { readPermalink, withPermalink } from './permalink.ts';

const PAGE = 'http://localhost:8000/?backend=wasm';

describe('a permalink', () => {
  it('brings back prompt, options, model, load scenario, chat and a job’s prompts, whatever characters they have', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 40 });
    const texts = fc
      .array(text, { minLength: GENERATION_FIELD_NAMES.length, maxLength: GENERATION_FIELD_NAMES.length })
      .map((values) => {
        const typed = GENERATION_FIELD_NAMES.map((field, index) => [field, values[index] ?? ''] as const);
        return { ...EMPTY_GENERATION_TEXTS, ...Object.fromEntries(typed) };
      });
    fc.assert(
      fc.property(text, texts, fc.option(text, { nil: undefined }), (prompt, options, load) => {
        const shared = {
          prompt,
          texts: options,
          model: load,
          load,
          chat: load,
          template: prompt,
          system: load,
        };
        const link = withPermalink(PAGE, shared);
        expect(readPermalink(new URL(link).hash)).toEqual(shared);
        expect(new URL(link).search).toBe('?backend=wasm');
      }),
    );
  });

  it('is short: what is empty is not in it', () => {
    const texts = { ...EMPTY_GENERATION_TEXTS, seed: '7' };
    const link = withPermalink(PAGE, { prompt: 'Once upon a time,', texts, load: undefined });
    expect(link).toBe(`${PAGE}#prompt=Once+upon+a+time%2C&seed=7`);
  });

  it('says nothing where the address has no fragment', () => {
    expect(readPermalink('')).toEqual({ texts: EMPTY_GENERATION_TEXTS });
  });
});
