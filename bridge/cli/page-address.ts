import type { CommandLineOptions } from './options.ts';

/** The page's address. It reads its backend and its first model there. */
export function pageAddress(
  origin: string,
  {
    backend,
    model,
    dtype,
    embedder,
    reranker,
  }: Pick<CommandLineOptions, 'backend' | 'model' | 'dtype' | 'embedder' | 'reranker'>,
): string {
  const query = new URLSearchParams({
    ...(backend && { backend }),
    ...(model !== undefined && { model }),
    ...(dtype && { dtype }),
    ...(embedder !== undefined && { embedder }),
    ...(reranker !== undefined && { reranker }),
  });
  // A slash needs no escape in a query.
  return query.size === 0 ? origin : `${origin}/?${query.toString().replaceAll('%2F', '/')}`;
}
