import { spawnSync } from 'node:child_process';

import { parseJson } from '../../src/platform/parse-json.ts';

// Fails on known vulnerabilities of level high and above in the installed packages. A registry without a list of them, as mirrors often
// are, doesn't fail the check, which then says so.

const { stdout, status } = spawnSync('npm', ['audit', '--audit-level=high', '--json'], {
  encoding: 'utf8',
  shell: process.platform === 'win32',
});
const report: object = Object(parseJson(stdout));
if (!('metadata' in report)) {
  const reason = 'message' in report ? String(report.message) : 'no answer';
  console.warn(`Audit: NOT DONE, the registry gives no list of vulnerabilities (${reason}).`);
} else {
  const found = status === 0 ? 'nothing of level high or critical' : 'run `npm audit` for what to do';
  console.log(`Audit: ${found}. ${JSON.stringify(report.metadata)}`);
  process.exitCode = status === 0 ? 0 : 1;
}
