import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

import { pathOf } from '../../paths.ts';

function bench(...args: readonly string[]) {
  const { status, stderr } = spawnSync(process.execPath, [pathOf('tools/bench/cases/main.ts'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, NODE_COMPILE_CACHE: pathOf('node_modules/.cache/node') },
  });
  return { status, stderr };
}

it.each([
  [['toString'], /^Usage: npm run bench -- CASE/],
  [['constructor', '--help'], /^Usage: npm run bench -- CASE/],
  [['engine', '--bogus'], /^Unknown option '--bogus'\nUsage: npm run bench -- engine/],
  [['engine', '--beside', 'no-such-commit'], /^There is no commit no-such-commit here\..*\n$/],
])('wrong use is reported without a stack: %j', (args, report) => {
  const { status, stderr } = bench(...args);
  expect(status).toBe(1);
  expect(stderr).toMatch(report);
  expect(stderr).not.toMatch(/^ +at /m);
});
