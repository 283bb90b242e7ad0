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
