import { codedError } from './coded-error.ts';

/** Two open tabs have different versions of the page. */
export class VersionMismatchError extends codedError('VersionMismatchError', 'VERSION_MISMATCH') {
  static of(theirs: number, ours: number): VersionMismatchError {
    return theirs > ours
      ? VersionMismatchError.ofNewer(theirs, ours)
      : VersionMismatchError.ofOlder(theirs, ours);
  }

  private static ofNewer(theirs: number, ours: number): VersionMismatchError {
    return new VersionMismatchError(
      `Another tab runs a newer version of this page (protocol ${theirs}, here ${ours}): reload this tab.`,
    );
  }

  private static ofOlder(theirs: number, ours: number): VersionMismatchError {
    return new VersionMismatchError(
      `Another tab runs an older version of this page (protocol ${theirs}, here ${ours}): ` +
        'reload or close the other tabs; then this one continues by itself.',
    );
  }
}

/** Another override is in force. Two at a time would measure each other's policy. */
export class OverrideHeldError extends codedError('OverrideHeldError', 'OVERRIDE_HELD') {
  /** @param tab The one that holds it. */
  static by(tab: 'another' | 'this'): OverrideHeldError {
    return new OverrideHeldError(
      `A test in ${tab} tab sets the policy. Stop it there, or wait until it ends.`,
    );
  }
}

/** This tab's temporary policy has ended. */
export class OverrideEndedError extends codedError('OverrideEndedError', 'OVERRIDE_ENDED') {
  static released(): OverrideEndedError {
    return new OverrideEndedError('This override was released. Call overridePolicy() for a new one.');
  }

  static bySuspension(): OverrideEndedError {
    return new OverrideEndedError(
      'The browser froze this tab, so its test ended. Keep the tab in view and start the test again.',
    );
  }

  static byHandOver(): OverrideEndedError {
    return new OverrideEndedError(
      'The worker was replaced, and the policy of this test with it. Start the test again.',
    );
  }
}

/** `connect({ canLead: false })` on a page whose browser shares no worker between tabs. */
export class CannotFollowError extends codedError('CannotFollowError', 'CANNOT_FOLLOW') {
  static without(missing: string): CannotFollowError {
    return new CannotFollowError(
      `This tab may not lead (canLead: false) and can't follow another one: the browser offers no ${missing} on this page. ` +
        'Serve the page over HTTPS or from localhost, or leave out canLead.',
    );
  }
}

/** Several workers crashed one after another while they loaded a model, so the load is not tried again. */
export class LoadAbandonedError extends codedError('LoadAbandonedError', 'LOAD_ABANDONED') {
  static of(modelName: string, numWorkers: number): LoadAbandonedError {
    return new LoadAbandonedError(
      `Couldn't load ${modelName}: ${numWorkers} workers were lost while loading it. ` +
        'Choose a smaller model or dtype, or load it again to continue where it stopped.',
    );
  }
}

/** Code that is loaded on demand could not be fetched. */
export class PageOutdatedError extends codedError('PageOutdatedError', 'PAGE_OUTDATED') {
  static because(cause: unknown): PageOutdatedError {
    return new PageOutdatedError(
      'Couldn’t load a part of this page. The device is offline, or the page has a new version. Reload the page.',
      { cause },
    );
  }
}
