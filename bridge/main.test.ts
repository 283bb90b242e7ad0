import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** Runs the command in a Node that says it is of this version. */
function runIn(version: string) {
  const pretend = `Object.defineProperty(process, 'versions', { value: { node: '${version}' } });
    Object.defineProperty(process, 'version', { value: 'v${version}' });`;
  const preload = `data:text/javascript,${encodeURIComponent(pretend)}`;
  return spawnSync(process.execPath, ['--import', preload, 'bridge/main.js', '--help'], { encoding: 'utf8' });
}

it.each(['20.20.2', '22.17.1'])('Node %s is told which version is needed, in one sentence', (version) => {
  const { stderr, stdout, status } = runIn(version);
  expect(stderr).toBe(
    `Tabserve needs Node 22.18 or later, and this is v${version}: use \`npm start\`, which brings its own Node.\n`,
  );
  expect([stdout, status]).toEqual(['', 1]);
});

it.each(['22.18.0', '24.0.0'])('Node %s runs the command', (version) => {
  const { stderr, stdout, status } = runIn(version);
  expect([stderr, status]).toEqual(['', 0]);
  expect(stdout).toContain('--model');
});
