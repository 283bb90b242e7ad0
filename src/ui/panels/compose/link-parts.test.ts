import { expect, it } from 'vitest';

import { damagedIn, unknownIn } from './link-parts.ts';

it('names what another version of the page has set and this one doesn’t know', () => {
  expect(unknownIn('#prompt=a&seed=7&topN=3&topN=4&mirostat=2')).toEqual(['topN', 'mirostat']);
});

it('names the parts of a link that were cut in a character, or hold a % that was never encoded', () => {
  expect(damagedIn('#prompt=%')).toEqual(['prompt']);
  expect(damagedIn('#seed=7&prompt=caf%C3&stop=100%+sure&stop=%zz')).toEqual(['prompt', 'stop']);
});

it('names none of a whole link', () => {
  expect(damagedIn('#prompt=100%25+sure%2C+caf%C3%A9&seed=7')).toEqual([]);
  expect([...damagedIn(''), ...unknownIn('')]).toEqual([]);
});
