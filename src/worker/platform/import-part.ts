/** A part of the code that is loaded on demand could not be fetched. */
export class PageOutdatedError extends Error {
  override readonly name = 'PageOutdatedError';
  readonly code = 'PAGE_OUTDATED';

  static because(cause: unknown): PageOutdatedError {
    return new PageOutdatedError(
      'A part of this page could not be loaded, as offline or after a new version: reload the page.',
      { cause },
    );
  }
}

/** @throws PageOutdatedError if the code cannot be fetched, and whatever the code itself throws. */
export async function importPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    // Browsers word a failed fetch differently, but all throw this class.
    throw cause instanceof TypeError ? PageOutdatedError.because(cause) : cause;
  }
}
