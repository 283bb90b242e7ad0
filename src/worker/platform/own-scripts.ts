/** What the compiler's DOM types lack of Trusted Types. */
interface TrustedTypes {
  readonly defaultPolicy: object | null;
  createPolicy(name: 'default', rules: { readonly createScriptURL: (url: string) => string }): unknown;
}

/**
 * The one Trusted Types policy of the page and of its worker: workers start from scripts of this origin, which are files and
 * no `blob:` or `data:`, and nothing else that is text becomes script or markup. It is the default one, as
 * onnxruntime-web starts its threads itself. Does nothing where the browser has no Trusted Types, or the page has a default
 * policy of its own.
 */
export function allowOwnScripts(): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- missing in the compiler's types, and in some browsers
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  if (!trustedTypes || trustedTypes.defaultPolicy) return;
  trustedTypes.createPolicy('default', { createScriptURL: requireOwn });
}

/** @throws TypeError for a script of another origin, or of none. */
function requireOwn(url: string): string {
  const { origin, protocol } = new URL(url, location.href);
  if (origin === location.origin && protocol === location.protocol) return url;
  throw new TypeError(`No script of this origin: ${url}`);
}
