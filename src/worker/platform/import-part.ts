/** A part of the code, which comes by itself, did not come. */
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

/** @throws PageOutdatedError where the code cannot be fetched; what it throws itself otherwise. */
export async function importPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    // Browsers say it in words of their own, but all with this class.
    throw cause instanceof TypeError ? PageOutdatedError.because(cause) : cause;
  }
}
