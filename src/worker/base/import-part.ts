import { PageOutdatedError } from '../../protocol/errors/tabs.ts';

/** Imports code on demand. @throws PageOutdatedError if it cannot be fetched. */
export async function importPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    // Browsers word the message of a failed fetch differently, but all throw this class.
    throw cause instanceof TypeError ? PageOutdatedError.because(cause) : cause;
  }
}
