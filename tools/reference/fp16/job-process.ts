import { createServer, createServerModuleRunner } from 'vite';

// A process of its own, with Dawn's globals: `job-process.ts <number of the case> <folder to make> <python>` runs a case,
// `job-process.ts checks` the GPU check. Prints results as JSON. Vite loads the engine, as for the page: it reads `import.meta.env`.

const [what, folder = '', python = ''] = process.argv.slice(2);
const server = await createServer({
  configFile: false,
  appType: 'custom',
  server: { middlewareMode: true, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
const runner = createServerModuleRunner(server.environments.ssr, { hmr: false });
const load = (name: string) => runner.import(new URL(name, import.meta.url).pathname);
console.log(JSON.stringify(await (what === 'checks' ? runChecks() : runCase())));
// Dawn keeps Node alive.
process.exit(0);

async function runChecks(): Promise<unknown> {
  const checks: typeof import('./run-checks.ts') = await load('run-checks.ts');
  return checks.runChecks();
}

async function runCase(): Promise<unknown> {
  const { CASES }: typeof import('./cases.ts') = await load('cases.ts');
  const cases: typeof import('./run-case.ts') = await load('run-case.ts');
  const testCase = CASES[Number(what)];
  if (!testCase) throw new Error(`Expected \`checks\` or the number of a case, got ${what}.`);
  return cases.runCase(testCase, folder, python);
}
