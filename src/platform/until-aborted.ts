/** Settles like `promise`, or rejects with the signal's reason as soon as it aborts. */
export async function untilAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

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
