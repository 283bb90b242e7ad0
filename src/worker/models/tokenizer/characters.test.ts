import { expect, it } from 'vitest';
import * as v from 'valibot';

import reference from '../../../../tools/reference/fixtures/normalization-reference.json' with { type: 'json' };
import { normalizeUnicode } from './characters.ts';

const runs = v.array(v.tuple([v.string(), v.number()]));
const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const;

/** Python's unicodedata: see tools/reference/tokenizers. */
it.each(reference.cases)(
  'long runs of marks ($marks × $times) are normalized as in Python, in linear time',
  ({ start, marks, times, forms: expected }) => {
    const text = start + marks.repeat(times);
    const started = performance.now();
    const results = forms.map((form) => normalizeUnicode(text, form));
    // The bound of time is generous: machines of tests are busy.
    expect(performance.now() - started).toBeLessThan(3000);
    const texts = forms.map((form) =>
      v.parse(runs, expected[form]).reduce((all, [character, count]) => all + character.repeat(count), ''),
    );
    expect(results.map((result, i) => result === texts[i])).toEqual([true, true, true, true]);
  },
);
