import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { chromium } from 'playwright/test';

import { OWN_ORIGIN } from '../../../bridge/cli/headless.ts';
import { CHAT_MODEL, chatCheckpoint } from '../../../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { createRepository } from '../../../tools/hub-server/hub-repository.ts';
import { startHubServer } from '../../../tools/hub-server/hub-server.ts';
import { curl } from '../../support/curl.ts';
import { requireEnvironment } from '../../support/environment.ts';
import { expect, test } from '../app-page.ts';
import type { InstalledPackage } from '../installed-package.ts';
import { buildWithVite } from '../tools.ts';
import { familyOf, runningOf } from '../processes.ts';

const ON_CPU = ['--backend', 'wasm'];

/** What npx runs, without the start of npm. */
const INSTALLED = ['node_modules/.bin/tabserve'];

function spawnCommand({ folder }: InstalledPackage, options: readonly string[], by = INSTALLED) {
  const [program = '', ...args] = by;
  return spawn(program, [...args, '--headless', '--port', '0', ...options], {
    cwd: folder,
    // A terminal sends Ctrl+C to the whole group.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, CHROME_PATH: requireEnvironment().browserPath },
  });
}

/** The command, once its model is ready, as the user of a terminal has it. */
async function startCommand(place: InstalledPackage, options: readonly string[], by = INSTALLED) {
  const child = spawnCommand(place, options, by);
  const { pid = 0, stdout, stderr } = child;
  stderr.pipe(process.stderr);
  const exited = once(child, 'exit');
  const line = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('The command ended before its model was ready.')));
    createInterface({ input: stdout }).on('line', (said) => {
      if (said.includes(' is ready on ')) resolve(said);
    });
  });
  const [, url = ''] = /Try: curl "?(http:\/\/[^/]+)/.exec(line) ?? [];
  const stop = async (): Promise<void> => {
    const family = familyOf(pid);
    expect(family.length, 'the command and the processes of a browser').toBeGreaterThan(3);
    process.kill(-pid, 'SIGINT');
    await exited;
    await expect.poll(() => runningOf(family)).toEqual([]);
  };
  return { line, url, stop };
}

test('npx tabserve answers curl without a window, and Ctrl+C leaves no process', async ({ place }) => {
  const { line, url, stop } = await startCommand(place, ON_CPU, ['npx', '--no-install', 'tabserve']);
  expect(line).toMatch(/^storyteller is ready on CPU, .*, [\d.]+ tokens\/s, [\d.]+ s after the start/);

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
  await stop();
});

test('tabserve --root serves a page of one’s own: its deployment answers lists over HTTP, in batches', async ({
  place,
}) => {
  const root = await buildWithVite(place);
  const { url, stop } = await startCommand(place, [
    '--root',
    root,
    '--profile',
    test.info().outputPath('own'),
  ]);
  expect(JSON.parse((await curl(`${url}/-/routes`)).body)).toEqual({
    '/': 'text-generator',
    '/deployments/upper-case': 'upper-case',
  });
  const answer = await curl(`${url}/deployments/upper-case`, {
    headers: { 'Content-Type': 'application/json' },
    data: JSON.stringify({ instances: ['a', 'b', 'c'] }),
  });
  expect(JSON.parse(answer.body)).toEqual({ predictions: ['A', 'B', 'C'] });
  expect((await curl(`${url}/metrics`)).body).toMatch(/batch_size[^\n]*upper-case/);
  await stop();
});

test('a model of the hub is downloaded once: the next start answers the same chat without a network', async ({
  place,
}) => {
  const hub = await startHubServer([createRepository(CHAT_MODEL, chatCheckpoint())]);
  const profile = test.info().outputPath('profile');
  const options = [
    ...ON_CPU,
    '--model',
    CHAT_MODEL,
    '--hub',
    hub.url,
    '--profile',
    profile,
    '--max-batch-size',
    '4',
  ];
  const answers: unknown[] = [];
  for (const start of ['first', 'second']) {
    const { line, url, stop } = await startCommand(place, [...options, '--allow-admin']);
    console.log(`    ${start} start: ${line}`);
    expect(line).toMatch(/^generated\/chat is ready on CPU, .*, [\d.]+ tokens\/s, [\d.]+ s after the start/);

    const [, address = '', data = ''] = /Try: curl (\S+) .* -d '(.*)'$/.exec(line) ?? [];
    const chat = await curl(address, { headers: { 'Content-Type': 'application/json' }, data });
    expect(chat.status).toBe(200);
    const { choices } = JSON.parse(chat.body);
    expect(choices[0].message.content).toMatch(/^[a-z ]{8}/);
    answers.push(choices);

    expect(JSON.parse((await curl(`${url}/policy`)).body)).toMatchObject({ maxBatchSize: 4 });
    if (start === 'first') await expectProfileInUse(place, options, profile);
    await stop();
    await hub.close();
  }
  expect(answers[1], 'on another port, without the hub').toEqual(answers[0]);
  expect(await isPersistent(profile), 'the browser never evicts the model').toBe(true);
});

/** Whether a full disk leaves the storage of the server's page alone. */
async function isPersistent(profile: string): Promise<boolean> {
  const { browserPath: executablePath } = requireEnvironment();
  const context = await chromium.launchPersistentContext(profile, { executablePath });
  try {
    const page = await context.newPage();
    await page.route(`${OWN_ORIGIN}/`, (route) => route.fulfill({ contentType: 'text/html', body: '' }));
    await page.goto(`${OWN_ORIGIN}/`);
    return await page.evaluate(() => navigator.storage.persisted());
  } finally {
    await context.close();
  }
}

async function expectProfileInUse(
  place: InstalledPackage,
  options: readonly string[],
  profile: string,
): Promise<void> {
  const second = spawnCommand(place, options);
  const [errors, [status]] = await Promise.all([text(second.stderr), once(second, 'close')]);
  expect(errors.trimEnd().split('\n').at(-1)).toBe(
    `Another browser uses the profile ${profile}: stop the server that it belongs to, or pass --profile with another folder.`,
  );
  expect(status).toBe(1);
}
