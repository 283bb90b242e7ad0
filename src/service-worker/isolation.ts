/**
 * Gives the WASM backend its threads where the host cannot send these headers. The page and the scripts of its workers need
 * the first two.
 */
const HEADERS: Readonly<Record<string, string>> = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The same response with the headers of a cross-origin isolated page. */
export function withIsolation(response: Response): Response {
  // An opaque response can't be read, and is of no file of the page.
  if (response.status === 0) return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
  return new Response(response.body, { status, statusText, headers });
}
