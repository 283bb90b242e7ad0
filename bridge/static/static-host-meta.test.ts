import { expect, test } from 'vitest';

import { contentSecurityPolicyElement } from './content-security-policy.ts';
import { isServiceWorker } from './retired-service-worker.ts';
import { staticHostMeta, withoutStaticHostMeta } from './static-host-meta.ts';

test('a server takes out what the build wrote for a static host, and nothing else', () => {
  const kept = '<meta charset="utf-8" />';
  const attributes = Object.entries(staticHostMeta({ name: 'a', content: contentSecurityPolicyElement() }))
    .map(([name, value]) => `${name}="${value}"`)
    .join(' ');
  expect(withoutStaticHostMeta(`<head>\n  <meta ${attributes}>\n  ${kept}\n</head>`)).toBe(
    `<head>\n  ${kept}\n</head>`,
  );
});

test('the policy in the page has no directive that browsers refuse there', () => {
  expect(contentSecurityPolicyElement()).not.toMatch(/frame-ancestors|report-uri|sandbox/);
});

test('only the file at the root is the service worker', () => {
  expect(isServiceWorker({ url: '/service-worker.js?v=1' })).toBe(true);
  expect(isServiceWorker({ url: '/assets/service-worker.js' })).toBe(false);
});
