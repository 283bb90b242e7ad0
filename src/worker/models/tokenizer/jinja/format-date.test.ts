import { expect, it } from 'vitest';

import { formatDate } from './format-date.ts';

// Python: datetime(2024, 7, 6, 15, 4, 9).strftime(format)
it.each([
  ['%d %b %Y', '06 Jul 2024'],
  ['%A, %d %B %y', 'Saturday, 06 July 24'],
  ['%Y-%m-%d %H:%M:%S %p (%a) 100%%', '2024-07-06 15:04:09 PM (Sat) 100%'],
  ['%-d/%-m/%y %e %I:%M %j %F %T %R %u%w', '6/7/24  6 03:04 188 2024-07-06 15:04:09 15:04 66'],
  ['%z%Z', ''],
])('formats %s as Python does', (format, text) => {
  expect(formatDate(new Date(2024, 6, 6, 15, 4, 9), format)).toBe(text);
});

it('throws for a directive that it does not know', () => {
  expect(() => formatDate(new Date(), 'week %U')).toThrow(RangeError);
});
