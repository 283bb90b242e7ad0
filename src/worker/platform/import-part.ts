import { PageOutdatedError } from '../protocol/errors/tabs.ts';

/** @throws PageOutdatedError where the code cannot be fetched; what it throws itself otherwise. */
export async function importPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    // Browsers say it in words of their own, but all with this class.
    throw cause instanceof TypeError ? PageOutdatedError.because(cause) : cause;
  }
}
