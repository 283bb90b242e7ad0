import { expect, it, vi } from 'vitest';

import { hubOfPage } from './page-settings.ts';

it.each([
  [null, undefined],
  [{ content: 'https://mirror.example' }, 'https://mirror.example'],
])('with the setting %j the hub is %s', (mark, hub) => {
  vi.stubGlobal('document', {
    querySelector: (selector: string) => (selector === 'meta[name="tabserve-hub"]' ? mark : null),
  });
  expect(hubOfPage()).toBe(hub);
});
