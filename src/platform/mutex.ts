/** Runs tasks strictly one after another, in the order of the calls. */
export function createMutex() {
  let tail: Promise<unknown> = Promise.resolve();
  return {
    run<Result>(task: () => Promise<Result>): Promise<Result> {
      // A task that failed must not stop the ones behind it.
      const result = tail.then(task, task);
      tail = result;
      return result;
    },
  };
}
