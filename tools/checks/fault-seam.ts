import { readdirSync, readFileSync } from 'node:fs';

/** Of `tools/faults/inject-faults.ts`, which is for the tests' build alone. */
const TRACES = ['faults.json', 'injected', 'inject-faults'];

const ASSETS = new URL('../../dist/assets/', import.meta.url);

const found = readdirSync(ASSETS)
  .filter((name) => name.endsWith('.js'))
  .flatMap((name) => {
    const script = readFileSync(new URL(name, ASSETS), 'utf8');
    return TRACES.filter((trace) => script.includes(trace)).map((trace) => `dist/assets/${name}: ${trace}`);
  });
for (const trace of found) console.error(`Expected no fault injection in the built page, found ${trace}`);
if (found.length === 0) console.log('Fault injection: none in the built page.');
process.exitCode = found.length === 0 ? 0 : 1;
