import { createServer, createServerModuleRunner } from 'vite';

// A process of its own, with Dawn's globals: `job-process.ts <number of the case>` runs a case, `job-process.ts checks` the GPU check. Prints its lines as JSON. Vite loads the engine, as for the page: it reads `import.meta.env`.

const [what] = process.argv.slice(2);
const server = await createServer({
  configFile: false,
  appType: 'custom',
  server: { middlewareMode: true, ws: false, watch: null },
  optimizeDeps: { noDiscovery: true },
});
const runner = createServerModuleRunner(server.environments.ssr, { hmr: false });
const job: typeof import('./job.ts') = await runner.import(new URL('job.ts', import.meta.url).pathname);
const lines = await (what === 'checks' ? job.runChecks() : job.runCase(Number(what)));
console.log(JSON.stringify(lines));
// Dawn keeps Node alive.
process.exit(0);
