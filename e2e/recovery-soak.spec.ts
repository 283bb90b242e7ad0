import { integerOf } from '../src/batching/testing/whole-run.ts';
import { runSoak } from './soak/soak.ts';
import { requireEnvironment } from './support/environment.ts';
import { runSeed } from './support/seeded-random.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

/** Set it for a longer run, or for one on WebGPU. */
const GIVEN_MINUTES = integerOf('SOAK_MINUTES', 0);
const MINUTES = GIVEN_MINUTES || 4;

test(`${MINUTES} minutes of mixed load from three tabs, with faults, lose nothing and leave nothing behind`, async ({
  browser,
  backend,
}) => {
  test.skip(
    GIVEN_MINUTES === 0 && (!IS_WHOLE || backend === 'webgpu'),
    'it takes minutes: in the whole suite',
  );
  test.setTimeout(60_000 * MINUTES + 900_000);
  const { faultsUrl: url } = requireEnvironment();
  const report = await runSoak({ browser, url, backend, minutes: MINUTES, seed: runSeed() });
  for (const line of report.lines) console.log(`    ${line}`);
  expect(report.complaints).toEqual([]);
  expect(report.consoleErrors).toEqual([]);
  expect(report.finished, 'texts').toBeGreaterThan(50);
  expect(Object.keys(report.faults).length, 'kinds of faults').toBeGreaterThan(2);
  expect(report.heapGrowth, 'heap of the last third over that of the first').toBeLessThan(1.5);
});
