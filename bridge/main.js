#!/usr/bin/env node
// In JavaScript, so that a Node that is too old for the rest says so in one sentence.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The version from which Node runs TypeScript. */
const OF_SOURCES = '22.18';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const isSource = import.meta.url.endsWith('/bridge/main.js');
const needed = isSource ? OF_SOURCES : engines.node.replace('>=', '');

/** Half of a start from sources is spent on compiling them. An older Node lacks the export, so that it can't be imported above. */
async function keepCompiled() {
  const { enableCompileCache } = await import('node:module');
  enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/node', import.meta.url)));
}

const [major, minor] = process.versions.node.split('.').map(Number);
const [neededMajor, neededMinor] = needed.split('.').map(Number);
if (major > neededMajor || (major === neededMajor && minor >= neededMinor)) {
  if (isSource) await keepCompiled();
  const { run } = await import('./run.ts');
  await run(process.argv.slice(2));
} else {
  const remedy = isSource
    ? 'use `npm start`, which brings its own Node'
    : 'install it from https://nodejs.org';
  console.error(`Tabserve needs Node ${needed} or later, and this is ${process.version}: ${remedy}.`);
  process.exitCode = 1;
}
