import { existsSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import sirv from 'sirv';

import { contentSecurityPolicy } from './content-security-policy.ts';
import { BridgeError } from './errors.ts';

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  // Cross-origin isolation gives the WASM backend its threads.
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
};

/**
 * Serves the built page in `root`. The file list is read once: rebuild, then restart.
 *
 * @param hub Where the page may fetch models from: a hub, and the origins that it redirects to. Empty for huggingface.co.
 * @param policy The page's Content-Security-Policy, where it is another one than that of the built page.
 */
export function serveStaticFiles(
  root: string,
  hub: readonly string[],
  policy = contentSecurityPolicy(hub),
): RequestListener {
  if (!existsSync(join(root, 'index.html'))) throw BridgeError.pageNotBuilt(root);
  const serveFile = sirv(root, { dev: false, etag: true, setHeaders: setFileHeaders });
  return (request, response) => {
    response.setHeader('Content-Security-Policy', policy);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, value);
    if (request.method !== 'GET' && request.method !== 'HEAD') refuseMethod(response);
    else serveFile(request, response, () => refusePath(request, response));
  };
}

/** Only files under `assets/` carry a content hash in their name; all others are asked for again each time. */
function setFileHeaders(response: ServerResponse, pathname: string): void {
  const isHashed = pathname.startsWith('/assets/');
  response.setHeader('Cache-Control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (pathname.endsWith('.safetensors')) response.setHeader('Content-Type', 'application/octet-stream');
}

function refuseMethod(response: ServerResponse): void {
  response.writeHead(405, { Allow: 'GET, HEAD', 'Content-Type': 'text/plain' }).end('Method not allowed\n');
}

function refusePath(request: IncomingMessage, response: ServerResponse): void {
  const body = `Nothing at ${request.url ?? '/'}\n`;
  response.writeHead(404, { 'Content-Type': 'text/plain', 'Cache-Control': 'no-cache' }).end(body);
}
