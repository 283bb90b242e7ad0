import { execFileSync } from 'node:child_process';

// Compiles what users write on the package's declarations, with the settings and compilers that they have. The names of both compilers'
// commands are the same, so they are run by their paths.

const RUNS: readonly (readonly [string, string, ...string[]])[] = [
  ['typescript', 'tsconfig.json', '--singleThreaded'],
  ['typescript', 'tsconfig.nodenext.json', '--singleThreaded'],
  ['typescript', 'tsconfig.node.json', '--singleThreaded'],
  ['typescript-5', 'tsconfig.json'],
  // The declarations, which take TypeScript 5 seconds, were read in the run before, and by TypeScript 7 under both resolutions.
  ['typescript-5', 'tsconfig.nodenext.json', ...(process.env['FULL'] ? [] : ['--skipLibCheck'])],
];

for (const [compiler, config, ...options] of RUNS) {
  const args = [`node_modules/${compiler}/bin/tsc`, '-p', `tools/package/types/${config}`, ...options];
  try {
    execFileSync(process.execPath, args, { stdio: 'inherit' });
  } catch {
    console.error(`The package's types don't hold for ${compiler} with ${config}.`);
    process.exitCode = 1;
  }
}
