import { findOnPath, installPackages } from '../../bridge/browser/commands.ts';

/** The path of a program, which is installed where it is missing. */
export async function findProgram(name: string, debianPackage = name): Promise<string> {
  const found = findOnPath(name) ?? ((await installPackages(debianPackage)) ? findOnPath(name) : undefined);
  if (found !== undefined) return found;
  throw new Error(
    `${name} was not found and could not be installed: install it (on Debian: apt-get install ${debianPackage}).`,
  );
}
