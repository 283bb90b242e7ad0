import { readdirSync, readFileSync } from 'node:fs';

/** Text that only the build of `--mode faults` contains, which injects faults. */
const TRACES = ['faults.json', 'injected', 'inject-faults'];

const ASSETS = new URL('../../dist/assets/', import.meta.url);

const found = readdirSync(ASSETS)
  .filter((name) => name.endsWith('.js'))
  .flatMap((name) => {
    const script = readFileSync(new URL(name, ASSETS), 'utf8');
    return TRACES.filter((trace) => script.includes(trace)).map((trace) => `dist/assets/${name}: ${trace}`);
  });
for (const trace of found) console.error(`Expected no other build's code in the built page, found ${trace}`);
if (found.length === 0) console.log('Fault injection: none in the built page.');
process.exitCode = found.length === 0 ? 0 : 1;
