/** The tab that serves and this one speak different versions of the protocol. */
export class VersionMismatchError extends Error {
  override readonly name = 'VersionMismatchError';
  readonly code = 'VERSION_MISMATCH';

  static of(theirs: number, ours: number): VersionMismatchError {
    return new VersionMismatchError(
      theirs > ours
        ? `Another tab serves a newer version of this page (protocol ${theirs}, here ${ours}): reload this tab.`
        : `Another tab serves an older version of this page (protocol ${theirs}, here ${ours}): ` +
            'reload or close the other tabs, and this one goes on by itself.',
    );
  }
}

/** Only one override at a time: two would each measure the other's policy. */
export class OverrideHeldError extends Error {
  override readonly name = 'OverrideHeldError';
  readonly code = 'OVERRIDE_HELD';

  static byAnotherTab(): OverrideHeldError {
    return new OverrideHeldError(
      'A load test in another tab sets the policy: wait until it ends, stop it there, or close that tab.',
    );
  }

  static byThisTab(): OverrideHeldError {
    return new OverrideHeldError('A load test in this tab sets the policy: wait until it ends, or stop it.');
  }
}

/** The tab's temporary policy is in force no more. */
export class OverrideEndedError extends Error {
  override readonly name = 'OverrideEndedError';
  readonly code = 'OVERRIDE_ENDED';

  static released(): OverrideEndedError {
    return new OverrideEndedError('This override was released: call overridePolicy() for a new one.');
  }

  static byPutAway(): OverrideEndedError {
    return new OverrideEndedError(
      'The browser froze this tab, so its load test ended: keep the tab in view, and start it again.',
    );
  }

  static byHandOver(): OverrideEndedError {
    return new OverrideEndedError(
      'The worker was replaced and did not take over the policy of this load test: start the test again.',
    );
  }
}

/** One worker after another was lost while a model was loaded; it is not asked of the next one. */
export class LoadAbandonedError extends Error {
  override readonly name = 'LoadAbandonedError';
  readonly code = 'LOAD_ABANDONED';

  static of(modelName: string, numWorkers: number): LoadAbandonedError {
    return new LoadAbandonedError(
      `${numWorkers} workers were lost while ${modelName} was loaded, so no other is asked for it: ` +
        'choose a smaller model or dtype, or load it again to go on where it stopped.',
    );
  }
}
