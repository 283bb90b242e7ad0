import { execFileSync } from 'node:child_process';

// Compiles what users write on the package's declarations, with the settings and compilers that they have. The names of both compilers'
// commands are the same, so they are run by their paths.

/** TypeScript 5 takes seconds for the declarations, which it has read in the run before and TypeScript 7 under both resolutions. */
const ONLY_USES = process.env['FULL'] ? [] : ['--skipLibCheck'];

const RUNS = [
  ['typescript', 'tsconfig.json', []],
  ['typescript', 'tsconfig.nodenext.json', []],
  ['typescript', 'tsconfig.node.json', []],
  ['typescript-5', 'tsconfig.json', []],
  ['typescript-5', 'tsconfig.nodenext.json', ONLY_USES],
] as const;

for (const [compiler, config, options] of RUNS) {
  const args = [`node_modules/${compiler}/bin/tsc`, '-p', `tools/package/types/${config}`, ...options];
  try {
    execFileSync(process.execPath, args, { stdio: 'inherit' });
  } catch {
    console.error(`The package's types don't hold for ${compiler} with ${config}.`);
    process.exitCode = 1;
  }
}
