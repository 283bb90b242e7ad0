import type { Plugin } from 'vite';

import { BRIDGE_FOLDER, BRIDGE_META } from '../src/protocol/bridge-names.ts';
import { Bridge } from './bridge.ts';
import { isServiceWorker, retireServiceWorker } from './static/retired-service-worker.ts';

/** The bridge's endpoints in the development server, beside the page that it serves. */
export function bridgePlugin(): Plugin {
  return {
    name: 'tabserve-bridge',
    apply: 'serve',
    configureServer(server) {
      const { config, httpServer, middlewares } = server;
      const { host, port } = config.server;
      const bridge = new Bridge({
        host: typeof host === 'string' ? host : 'localhost',
        url: () => server.resolvedUrls?.local[0] ?? `http://localhost:${port}/`,
      });
      middlewares.use((request, response, next) => {
        if (isServiceWorker(request)) retireServiceWorker(response);
        else bridge.handle(request, response, next);
      });
      // Any other WebSocket is Vite's own.
      httpServer?.on('upgrade', (request, socket, head) => void bridge.upgrade(request, socket, head));
      httpServer?.on('close', () => void bridge.close());
    },
    transformIndexHtml: () => [
      { tag: 'meta', attrs: { name: BRIDGE_META, content: BRIDGE_FOLDER }, injectTo: 'head-prepend' },
    ],
  };
}
