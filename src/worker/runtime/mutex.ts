/** Runs tasks strictly one after another, in the order of the calls. */
export interface Mutex {
  run<Result>(task: () => Promise<Result>): Promise<Result>;
}

export function createMutex(): Mutex {
  let tail: Promise<unknown> = Promise.resolve();
  return {
    run(task) {
      // A task that failed must not stop the ones behind it.
      const result = tail.then(task, task);
      tail = result;
      return result;
    },
  };
}
