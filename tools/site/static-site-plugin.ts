import { resolve } from 'node:path';
import type { Plugin } from 'vite';

import { contentSecurityPolicyElement } from '../../bridge/static/content-security-policy.ts';
import { SERVICE_WORKER_FILE, staticHostMeta } from '../../bridge/static/static-host-meta.ts';
import { writeServiceWorker } from './write-service-worker.ts';

/** Makes the built page one that a static host can serve: with its policy in the page, and a service worker beside it. */
export function staticSitePlugin(): Plugin {
  let folder = '';
  const elements = [
    { 'http-equiv': 'Content-Security-Policy', content: contentSecurityPolicyElement() },
    { name: 'tabserve-service-worker', content: SERVICE_WORKER_FILE },
  ];
  return {
    name: 'tabserve-static-site',
    apply: 'build',
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir);
    },
    transformIndexHtml: () =>
      elements.map((attributes) => ({
        tag: 'meta',
        attrs: staticHostMeta(attributes),
        injectTo: 'head-prepend' as const,
      })),
    writeBundle: { order: 'post', sequential: true, handler: () => writeServiceWorker(folder) },
  };
}
