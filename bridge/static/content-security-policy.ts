/** The hub, and the hosts that it redirects downloads of large files to. */
const DEFAULT_HUB = ['https://huggingface.co', 'https://*.huggingface.co', 'https://*.hf.co'];

/**
 * The policy of the built page, which loads its own files, WebAssembly, and model files from these foreign origins. Trusted Types forbid
 * scripts and markup made from text, but for the one policy in `src/platform/own-scripts.ts`, which starts workers.
 *
 * @param hub A hub, and the origins that it redirects to; empty for huggingface.co.
 */
export function contentSecurityPolicy(hub: readonly string[]): string {
  return directives(hub).join('; ');
}

/** The policy for a `meta` element. It leaves out `frame-ancestors`, which browsers ignore there with an error. */
export function contentSecurityPolicyElement(): string {
  return directives([])
    .filter((directive) => !directive.startsWith('frame-ancestors '))
    .join('; ');
}

function directives(hub: readonly string[]): readonly string[] {
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
  ];
}
