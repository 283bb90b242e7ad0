import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { curl } from '../../support/curl.ts';
import { requireEnvironment } from '../../support/environment.ts';
import { expect, test } from '../app-page.ts';
import { familyOf, runningOf } from '../processes.ts';

test('npx tabserve answers curl without a window, and Ctrl+C leaves no process', async ({ place }) => {
  const args = ['--no-install', 'tabserve', '--headless', '--backend', 'wasm', '--port', '0'];
  const child = spawn('npx', args, {
    cwd: place.folder,
    // A terminal sends Ctrl+C to the whole group.
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, CHROME_PATH: requireEnvironment().browserPath },
  });
  const exited = once(child, 'exit');
  const url = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const origin = /is ready on wasm .*Try: curl "(http:\/\/[^/]+)/.exec(line)?.[1];
      if (origin !== undefined) resolve(origin);
    });
  });

  const story = await curl(`${url}/?text=Once+upon+a+time`);
  expect(story.status).toBe(200);
  expect(story.body).toMatch(/^Once upon a time.{20}/);

  const completion = await curl(`${url}/v1/completions`, {
    headers: { 'Content-Type': 'application/json' },
    data: JSON.stringify({ model: 'storyteller', prompt: 'Once upon a time', max_tokens: 4 }),
  });
  expect(completion.status).toBe(200);
  expect(JSON.parse(completion.body)).toMatchObject({
    object: 'text_completion',
    choices: [{ text: expect.stringMatching(/\w/), finish_reason: 'length' }],
    usage: { completion_tokens: 4 },
  });

  const family = familyOf(Number(child.pid));
  expect(family.length, 'npx, the command and a browser').toBeGreaterThan(3);
  process.kill(-Number(child.pid), 'SIGINT');
  await exited;
  await expect.poll(() => runningOf(family)).toEqual([]);
});
