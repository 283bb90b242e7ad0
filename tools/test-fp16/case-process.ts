import { createServer, createServerModuleRunner } from 'vite';

// Runs one case in a process of its own: `node --import ./dawn-globals.ts case-process.ts <number of the case> <empty folder> <python>`. Vite loads the
// engine, as it does for the page, because `import.meta.env` is Vite's. Prints the results as JSON.

const [index, folder, python] = process.argv.slice(2);
const server = await createServer({
  configFile: false,
  appType: 'custom',
  server: { middlewareMode: true, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
const runner = createServerModuleRunner(server.environments.ssr, { hmr: false });
const load = (name: string) => runner.import(new URL(name, import.meta.url).pathname);
const { CASES }: typeof import('./cases.ts') = await load('cases.ts');
const { runCase }: typeof import('./run-case.ts') = await load('run-case.ts');
const testCase = CASES[Number(index)];
if (!testCase || folder === undefined || python === undefined)
  throw new Error('Expected the number of a case, an empty folder and a Python with NumPy.');
console.log(JSON.stringify(await runCase(testCase, folder, python)));
// Dawn keeps Node alive.
process.exit(0);
