import { expect, it } from 'vitest';

import { markPage } from './mark-page.ts';

const PAGE = '<html><head><title>T</title></head><body></body></html>';

it('tells the page of the upstream and its model, and lets nothing out of the attribute', () => {
  expect(markPage(PAGE, { url: 'http://gpu:8000', apiKey: 'secret' })).toContain(
    '<meta name="tabserve-upstream" content="http://gpu:8000" />',
  );
  expect(markPage(PAGE, { url: 'http://gpu', apiKey: 'secret' })).not.toContain('secret');
  expect(markPage(PAGE, { url: 'http://gpu', model: '"><script>$&' })).toContain(
    'data-model="&quot;>&lt;script>$&amp;"',
  );
});
