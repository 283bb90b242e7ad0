import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';

import { startServer } from '../../bridge/server.ts';
import { findBrowser } from '../../bridge/browser/find-browser.ts';
import { WEBGPU_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { describeReport, runSoak } from './soak.ts';

// npm run build:tests && node e2e/soak/main.ts --minutes 10 [--backend webgpu] [--seed 7]

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    backend: { type: 'string', default: 'wasm' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});
const backend = values.backend === 'webgpu' ? 'webgpu' : 'wasm';
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
console.log(`${minutes} minutes on ${backend}, seed ${seed}`);

const root = fileURLToPath(new URL('../../dist-faults', import.meta.url));
const found = await findBrowser();
const server = await startServer({ host: 'localhost', port: 0, root });
const browser = await chromium.launch({ executablePath: found.path, args: [...WEBGPU_ARGUMENTS] });
try {
  const report = await runSoak({ browser, url: server.url, backend, minutes, seed });
  for (const line of describeReport(report)) console.log(line);
  process.exitCode = report.complaints.length + report.consoleErrors.length === 0 ? 0 : 1;
} finally {
  await browser.close();
  await server.close();
}
