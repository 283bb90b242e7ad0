import type { CommandLineOptions } from './options.ts';

/** The page's address. It reads its backend and its first model there. */
export function pageAddress(
  origin: string,
  { backend, model, dtype }: Pick<CommandLineOptions, 'backend' | 'model' | 'dtype'>,
): string {
  const query = new URLSearchParams({
    ...(backend && { backend }),
    ...(model !== undefined && { model }),
    ...(dtype && { dtype }),
  });
  // A slash needs no escape in a query.
  return query.size === 0 ? origin : `${origin}/?${query.toString().replaceAll('%2F', '/')}`;
}
