import { yieldToHost } from '../../platform/yield-to-host.ts';

/**
 * Sends a request and listens to what a Content-Security-Policy blocks meanwhile, since a failed `fetch` doesn't say so.
 *
 * @param request Gets a function for its failure: it returns the origin of `url` if connect-src blocks that.
 */
export async function underPolicy<Result>(
  url: string,
  request: (readBlocked: () => Promise<string | undefined>) => Promise<Result>,
): Promise<Result> {
  // Tests in Node have none.
  const scope: Partial<typeof globalThis> = globalThis;
  const blocked: unknown[] = [];
  const note = (event: Event): void => {
    if ('effectiveDirective' in event && event.effectiveDirective === 'connect-src' && 'blockedURI' in event)
      blocked.push(URL.parse(String(event.blockedURI))?.origin);
  };
  const readBlocked = async (): Promise<string | undefined> => {
    // A report comes in a task behind the failure.
    await yieldToHost();
    if (blocked.length === 0) return undefined;
    const { origin } = new URL(new Request(url).url);
    return blocked.includes(origin) ? origin : undefined;
  };
  scope.addEventListener?.('securitypolicyviolation', note);
  try {
    return await request(readBlocked);
  } finally {
    scope.removeEventListener?.('securitypolicyviolation', note);
  }
}
