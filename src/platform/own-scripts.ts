/** The part of Trusted Types that is used here; the compiler's DOM types lack it. */
interface TrustedTypes {
  readonly defaultPolicy: object | null;
  createPolicy(name: 'default', rules: { readonly createScriptURL: (url: string) => string }): unknown;
}

/**
 * Sets the Trusted Types policy of the page and its worker: workers start only from script files of this origin, never from
 * `blob:` or `data:`, and no other text becomes script or markup. It has to be the default policy, because onnxruntime-web
 * starts its threads itself. Does nothing if the browser has no Trusted Types, or the page has a default policy.
 */
export function allowOwnScripts(): void {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- missing in the compiler's types, and in some browsers
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  if (!trustedTypes || trustedTypes.defaultPolicy) return;
  trustedTypes.createPolicy('default', { createScriptURL: requireOwn });
}

/** @throws TypeError for a script that is not a file of this origin. */
function requireOwn(url: string): string {
  const { origin, protocol } = new URL(url, location.href);
  if (origin === location.origin && protocol === location.protocol) return url;
  throw new TypeError(`No script of this origin: ${url}`);
}
