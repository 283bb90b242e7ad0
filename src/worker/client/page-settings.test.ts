import { expect, it, vi } from 'vitest';

import { hubOfPage } from './page-settings.ts';

it.each([
  ['', null, undefined],
  ['', { content: 'https://mirror.example' }, 'https://mirror.example'],
  ['?hub=http%3A%2F%2Flocalhost%3A9', null, 'http://localhost:9'],
  ['?hub=http%3A%2F%2Flocalhost%3A9', { content: 'https://mirror.example' }, 'http://localhost:9'],
])('with the address %s and the mark %j the hub is %s', (search, mark, hub) => {
  vi.stubGlobal('location', { search });
  vi.stubGlobal('document', {
    querySelector: (selector: string) => (selector === 'meta[name="tabserve-hub"]' ? mark : null),
  });
  expect(hubOfPage()).toBe(hub);
});
