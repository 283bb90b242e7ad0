/** All results, or the first failure, which cancels the others. */
export async function allOrNone<Result>(
  outer: AbortSignal,
  start: (signal: AbortSignal) => readonly Promise<Result>[],
): Promise<Result[]> {
  const controller = new AbortController();
  try {
    return await Promise.all(start(AbortSignal.any([outer, controller.signal])));
  } finally {
    controller.abort();
  }
}
