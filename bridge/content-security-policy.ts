/** The hub, and where it sends whoever asks for a large file. */
const DEFAULT_HUB = ['https://huggingface.co', 'https://*.huggingface.co', 'https://*.hf.co'];

/**
 * What the built page may load: its own files, WebAssembly, and files of models from these origins, which are the only
 * foreign ones.
 *
 * @param hub A hub, and the origins that it redirects to; empty for huggingface.co.
 */
export function contentSecurityPolicy(hub: readonly string[]): string {
  const foreign = hub.length === 0 ? DEFAULT_HUB : hub;
  return [
    "default-src 'self'",
    // Styles that scripts set by property need nothing; those in attributes do.
    "style-src 'self' 'unsafe-inline'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self' blob:",
    "img-src 'self' data: blob:",
    `connect-src 'self' data: blob: ${foreign.join(' ')}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
