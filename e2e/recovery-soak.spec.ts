import { describeReport, runSoak } from './soak/soak.ts';
import { requireEnvironment } from './support/environment.ts';
import { runSeed } from './support/seeded-random.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

const SECONDS = 240;

test(`${SECONDS} s of mixed load from three tabs, with faults, lose nothing and leave nothing behind`, async ({
  browser,
}) => {
  test.skip(!IS_WHOLE, 'it takes minutes: in the whole suite');
  test.setTimeout(SECONDS * 1000 + 300_000);
  const { faultsUrl: url } = requireEnvironment();
  const report = await runSoak({ browser, url, backend: 'wasm', minutes: SECONDS / 60, seed: runSeed() });
  for (const line of describeReport(report)) console.log(`    ${line}`);
  expect(report.complaints).toEqual([]);
  expect(report.consoleErrors).toEqual([]);
  expect(report.finished, 'texts').toBeGreaterThan(50);
  expect(Object.keys(report.faults).length, 'kinds of faults').toBeGreaterThan(2);
  const third = Math.floor(report.samples.length / 3);
  const meanHeap = (samples: typeof report.samples): number =>
    samples.reduce((sum, { heap }) => sum + heap, 0) / samples.length;
  expect(meanHeap(report.samples.slice(-third)), 'heap, bytes').toBeLessThan(
    1.5 * meanHeap(report.samples.slice(0, third)),
  );
});
