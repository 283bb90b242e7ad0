import { PageOutdatedError } from '../protocol/errors/tabs.ts';

/** @throws PageOutdatedError if the code cannot be fetched, and whatever the code itself throws. */
export async function importPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    // Browsers word a failed fetch differently, but all throw this class.
    throw cause instanceof TypeError ? PageOutdatedError.because(cause) : cause;
  }
}
