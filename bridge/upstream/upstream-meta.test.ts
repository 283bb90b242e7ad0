import { expect, it } from 'vitest';

import { upstreamMeta } from './upstream-meta.ts';

it('tells the page of the upstream and its model, and lets nothing out of the attribute', () => {
  expect(upstreamMeta({ url: 'http://gpu:8000', apiKey: 'secret' })).toBe(
    '<meta name="tabserve-upstream" content="http://gpu:8000" />',
  );
  expect(upstreamMeta({ url: 'http://gpu', model: '"><script>$&' })).toContain(
    'data-model="&quot;>&lt;script>$&amp;"',
  );
});
