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
