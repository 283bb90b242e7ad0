/** The hub, and where it sends whoever asks for a large file. */
const DEFAULT_HUB = ['https://huggingface.co', 'https://*.huggingface.co', 'https://*.hf.co'];

/**
 * What the built page may load: its own files, WebAssembly, and files of models from these origins, which are the only
 * foreign ones. Nothing of it becomes script or markup from text: Trusted Types leave the one policy of
 * `src/worker/platform/own-scripts.ts`, which lets workers of this origin start.
 *
 * @param hub A hub, and the origins that it redirects to; empty for huggingface.co.
 */
export function contentSecurityPolicy(hub: readonly string[]): string {
  const foreign = hub.length === 0 ? DEFAULT_HUB : hub;
  return [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${foreign.join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join('; ');
}
