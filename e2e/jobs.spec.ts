import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from 'playwright/test';

import { QUIET_ARGUMENTS } from '../bridge/browser/launch-arguments.ts';
import type { CreateJobOptions, JobInfo, JobRequest } from '../src/client/index.ts';
import { requireEnvironment } from './support/environment.ts';
import { runSeed, seededRandom, someOf } from './support/seeded-random.ts';
import { Site } from './support/site.ts';
import { openTab, type Tab } from './support/tab.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';

const NUM_ROWS = IS_WHOLE ? 5000 : 48;
/** The most that a part of the rows takes on a loaded machine. */
const PART_MS = 600_000;
/** Rows that are labeled; on WebGPU, whose adapter may be software, a tenth of them. */
const NUM_LABELS = IS_WHOLE ? 300 : 24;
const NUM_INTERRUPTIONS = IS_WHOLE ? 20 : 2;
const KINDS = ['browser killed', 'leader closed', 'worker ended', 'storage full', 'reload'] as const;
const KINDS_OF_RUN = someOf(KINDS, NUM_INTERRUPTIONS);

const TEMPLATE = 'Once upon a time, in a land far away, a {{what}} number {{number}} ';
const OPTIONS = { maxNewTokens: 12, temperature: 0.9, topK: 40 };
const SEED = 2 ** 32 - 50;
const THINGS = ['fox', 'very old and tired dragon', 'girl', 'big brown bear with a red hat'];

const rowAt = (index: number) => ({ number: String(index), what: THINGS[index % THINGS.length] ?? '' });
const promptAt = (index: number): string =>
  TEMPLATE.replace('{{what}}', rowAt(index).what).replace('{{number}}', String(index));

test(
  'a job labels rows as single prompts do, with the same probabilities in rows, CSV and JSONL',
  { tag: IS_WHOLE ? [] : [ANY_BACKEND] },
  async ({ tab, backend }) => {
    test.setTimeout(IS_WHOLE ? 1_800_000 : 180_000);
    const numRows = backend === 'webgpu' ? NUM_LABELS / 10 : NUM_LABELS;
    // On a GPU, sums depend on the size of the batch.
    const digits = backend === 'webgpu' ? 4 : 5;
    const labels = await tab.page.evaluate(
      async ([texts, format]) => {
        const serve = window.tabserve;
        const job = await serve.jobs.create({
          rows: texts.map((text) => ({ text })),
          template: '{{text}}',
          options: { logprobs: true, temperature: 0 },
          responseFormat: format,
        });
        await job.done();
        const textOf = (kind: 'csv' | 'jsonl') => new Response(job.export(kind)).text();
        const [csv, jsonl] = [await textOf('csv'), await textOf('jsonl')];
        const rows: (readonly [string | undefined, readonly number[] | undefined])[] = [];
        for await (const { result } of job.results()) rows.push([result.text, result.choiceProbabilities]);
        await job.delete();
        const alone: typeof rows = [];
        for (const text of texts) {
          const { generatedText, choiceProbabilities } = await serve.generate(text, {
            responseFormat: format,
            logprobs: true,
            temperature: 0,
          });
          alone.push([generatedText, choiceProbabilities]);
        }
        return { rows, alone, csv, jsonl };
      },
      [
        Array.from({ length: numRows }, (_, index) => `The ${rowAt(index).what} ${index} was very`),
        { type: 'choice', choices: [' happy', ' sad', ' big'] },
      ] as const,
    );
    expect(labels.rows.map(([text]) => text)).toEqual(labels.alone.map(([text]) => text));
    for (const [at, [, probabilities = []]] of labels.rows.entries()) {
      const alone = labels.alone[at]?.[1] ?? [];
      expect(probabilities).toHaveLength(3);
      for (const [choice, probability] of probabilities.entries())
        expect(probability).toBeCloseTo(alone[choice] ?? Number.NaN, digits);
    }
    const [head, ...lines] = labels.csv.trim().split('\r\n');
    expect(head).toBe('text,result,choiceProbabilities,error');
    const ofCsv = lines.map((line) => /,( \w+),"(\[[^"]*\])",$/.exec(line)?.slice(1));
    expect(ofCsv).toEqual(labels.rows.map(([text, each]) => [text, JSON.stringify(each)]));
    const ofJson = labels.jsonl
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(ofJson).toMatchObject(
      labels.rows.map(([result, choiceProbabilities]) => ({ result, choiceProbabilities })),
    );
  },
);

test.describe('a job', { tag: ANY_BACKEND }, () => {
  test('has every row once, in order, with the text of its prompt alone, through random interruptions', async ({
    backend,
  }) => {
    test.setTimeout(IS_WHOLE ? 3_600_000 : 360_000);
    const random = seededRandom(runSeed());
    const profile = await mkdtemp(join(tmpdir(), 'tabserve-jobs-'));
    let site = await openProfile(profile, backend);
    const info = async (): Promise<JobInfo> => (await jobInfos(await anyTab(site)))[0] ?? fail();
    try {
      const tab = await anyTab(site);
      await tab.ready();
      const id = await createJob(tab);
      const kinds = Array.from(
        { length: NUM_INTERRUPTIONS },
        (_, at) => KINDS_OF_RUN[at % KINDS_OF_RUN.length] ?? 'reload',
      );
      for (const [at, kind] of shuffled(kinds, random).entries()) {
        const part = (at + random()) / NUM_INTERRUPTIONS;
        await test.step(`${kind} after ${Math.floor(part * NUM_ROWS)} rows`, async () => {
          await expect
            .poll(async () => (await info()).counts.finished, { intervals: [20], timeout: PART_MS })
            .toBeGreaterThanOrEqual(Math.floor(part * NUM_ROWS));
          site = await interrupt(site, kind, profile, backend);
        });
      }
      await expect.poll(async () => (await info()).state, { timeout: 3_000_000 }).toBe('finished');
      const texts = await resultsOf(await anyTab(site), id);
      const alone = await textsAlone(await anyTab(site));
      expect(texts.map(({ index }) => index)).toEqual(Array.from({ length: NUM_ROWS }, (_, index) => index));
      expect(texts.map(({ text }) => text)).toEqual(alone);
    } finally {
      await site.context.close();
      await rm(profile, { recursive: true, force: true });
    }
  });

  test('is the same in all tabs, and leaves a file and no trace', async ({ tab: first, backend }) => {
    const second = await openTab(first.page.context(), backend);
    const id = await first.page.evaluate(async () => {
      const rows = [{ text: 'a, "b"' }, { text: 'c\nd' }, { text: '' }];
      const { jobs } = window.tabserve;
      const job = await jobs.create({
        name: 'Quotes',
        rows,
        template: '{{text}}',
        options: { maxNewTokens: 2 },
      });
      await job.done();
      return job.id;
    });
    const { infos, csv, lines } = await second.page.evaluate(async (jobId) => {
      const job = await window.tabserve.jobs.get(jobId);
      await job.rename('Three quotes');
      const textOf = (format: 'csv' | 'jsonl') => new Response(job.export(format)).text();
      const files = { csv: await textOf('csv'), jsonl: await textOf('jsonl') };
      return {
        infos: (await window.tabserve.jobs.list()).map((each) => each.info),
        csv: files.csv,
        lines: files.jsonl.trim().split('\n'),
      };
    }, id);
    expect(infos).toMatchObject([
      { id, name: 'Three quotes', state: 'finished', counts: { total: 3, finished: 2, failed: 1 } },
    ]);
    expect(csv).toMatch(/^text,result,error\r\n"a, ""b""",[^]*\r\n"c\nd",[^]*\r\n,,EMPTY_PROMPT: [^]*\r\n$/);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { text: 'a, "b"', result: expect.any(String) },
      { text: 'c\nd', result: expect.any(String) },
      { text: '', error: expect.objectContaining({ code: 'EMPTY_PROMPT' }) },
    ]);
    await second.page.evaluate(async (jobId) => (await window.tabserve.jobs.get(jobId)).delete(), id);
    const left = await first.page.evaluate(async () => {
      let folder = await navigator.storage.getDirectory();
      for (const part of ['tabserve', 'jobs']) folder = await folder.getDirectoryHandle(part);
      const names: string[] = [];
      for await (const name of folder.keys()) names.push(name);
      return [(await window.tabserve.jobs.list()).length, names.length];
    });
    expect(left).toEqual([0, 0]);
    expect(second.errors).toEqual([]);
    await second.page.close();
  });

  test('keeps columns, their order and numbers from rows to exports, and has probabilities of a choice', async ({
    tab,
  }) => {
    const json =
      '{"name":"x","2024":1413617112501850121,"2023":1.10,"__proto__":"p","result":"mine","constructor":"=c"}';
    const { columns, probabilities, csv, jsonl } = await tab.page.evaluate(async (row) => {
      const job = await window.tabserve.jobs.create({
        rows: [row],
        template: '{{name}} {{2024}} {{__proto__}}',
        options: { logprobs: 0 },
        responseFormat: { type: 'choice', choices: [' yes', ' no'] },
      });
      await job.done();
      const textOf = (format: 'csv' | 'jsonl') => new Response(job.export(format)).text();
      const { rows } = await job.rows();
      const files = { csv: await textOf('csv'), jsonl: await textOf('jsonl') };
      await job.delete();
      const { choiceProbabilities = [] } = rows[0]?.result ?? {};
      return { columns: job.info.columns, probabilities: choiceProbabilities, ...files };
    }, json);
    expect(columns).toEqual(['name', '2024', '2023', '__proto__', 'result', 'constructor']);
    expect(probabilities).toHaveLength(2);
    expect(probabilities.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1);
    const [head, line] = csv.split('\r\n');
    expect(head).toBe(`${columns.join(',')},result_,choiceProbabilities,error`);
    expect(line).toMatch(/^x,1413617112501850121,1\.10,p,mine,'=c, (?:yes|no),"\[/);
    expect(jsonl.startsWith(`${json.slice(0, -1)},"result_":" `)).toBe(true);
  });

  test('says that its files are gone once the data of the site are cleared, and new jobs work', async ({
    tab,
  }) => {
    const { page } = tab;
    const id = await page.evaluate(async () => {
      const rows = Array.from({ length: 20 }, (_, at) => ({ a: `${at}` }));
      return (await window.tabserve.jobs.create({ rows, template: 'Once {{a}}' })).id;
    });
    const devTools = await page.context().newCDPSession(page);
    const { origin } = new URL(page.url());
    await devTools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'file_systems' });
    const state = await page.evaluate(async () => {
      const options = { maxNewTokens: 2 };
      const next = await window.tabserve.jobs.create({
        rows: [{ a: '1' }],
        template: 'Twice {{a}}',
        options,
      });
      return (await next.done()).state;
    });
    expect(state).toBe('finished');
    await expect
      .poll(async () => (await jobInfos(tab)).find((info) => info.id === id)?.error?.code)
      .toBe('JOB_FILES_LOST');
    const numRows = await page.evaluate(async (jobId) => {
      const { jobs } = window.tabserve;
      const lost = await jobs.get(jobId);
      const { rows } = await lost.rows();
      for (const job of await jobs.list()) await job.delete();
      return rows.length;
    }, id);
    expect(numRows).toBe(20);
  });

  test('refuses what can not run, and marks rows that can not', async ({ tab }) => {
    const refused: CreateJobOptions[] = [
      { rows: [{ a: '1' }], template: '{{b}}' },
      { rows: [], template: 'x' },
      { rows: [{ a: '1' }], template: 'x', options: { maxNewTokens: -1 } },
      { requests: [request('a', '/v1/completions', {}), request('a', '/v1/completions', {})] },
    ];
    const requests = [
      request('url', '/v1/images', {}),
      request('field', '/v1/completions', { prompt: 'Hi', suffix: 'x' }),
      request('chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }] }),
      request('good', '/v1/completions', { prompt: 'Hi', max_tokens: 2, n: 2, seed: 4, logprobs: 1 }),
    ];
    const outcomes = await tab.page.evaluate(
      async ([given, lines]) => {
        const { jobs } = window.tabserve;
        const long = {
          custom_id: 'long',
          method: 'POST',
          url: '/v1/completions',
          body: { prompt: 'x'.repeat(10_000_000) },
        };
        const refusals: string[] = [];
        for (const options of given)
          await jobs.create(options).catch((error: Error & { code: string }) => refusals.push(error.code));
        const job = await jobs.create({ requests: [long, ...lines] });
        await job.done();
        const codes: (string | undefined)[] = [];
        for await (const { result } of job.results()) codes.push(result.error?.code ?? result.finishReason);
        const last = (await new Response(job.export('jsonl')).text()).trim().split('\n').at(-1) ?? '';
        await job.delete();
        return { refusals, codes, last: JSON.parse(last) as unknown, left: (await jobs.list()).length };
      },
      [refused, requests] as const,
    );
    expect(outcomes).toEqual({
      refusals: ['JOB_COLUMN_MISSING', 'JOB_ROW_INVALID', 'INVALID_OPTION', 'JOB_ROW_INVALID'],
      codes: ['PROMPT_TOO_LONG', 'JOB_ROW_INVALID', 'JOB_ROW_INVALID', 'NO_CHAT_TEMPLATE', 'length'],
      last: expect.objectContaining({
        custom_id: 'good',
        response: expect.objectContaining({
          status_code: 200,
          body: expect.objectContaining({
            choices: [
              {
                index: 0,
                text: expect.any(String),
                logprobs: expect.objectContaining({
                  tokens: [expect.stringMatching(/./), expect.stringMatching(/./)],
                  token_logprobs: [expect.any(Number), expect.any(Number)],
                }),
                finish_reason: 'length',
              },
              expect.anything(),
            ],
          }),
        }),
      }),
      left: 0,
    });
  });
});

function request(custom_id: string, url: string, body: object): JobRequest {
  return { custom_id, method: 'POST', url, body: { ...body, model: 'any' } };
}

function fail(): never {
  throw new Error('There is no job.');
}

/** A browser with two tabs of the page, whose profile outlives it. */
async function openProfile(profile: string, backend: 'webgpu' | 'wasm'): Promise<Site> {
  const { pagesBrowserPath: executablePath, pageUrl: baseURL } = requireEnvironment();
  const args = [...QUIET_ARGUMENTS];
  const context = await chromium.launchPersistentContext(profile, { executablePath, args, baseURL });
  const site = new Site(context, backend);
  await site.openReady(2);
  return site;
}

async function interrupt(
  site: Site,
  kind: (typeof KINDS)[number],
  profile: string,
  backend: 'webgpu' | 'wasm',
) {
  const leader = await site.leader();
  switch (kind) {
    case 'browser killed':
      killBrowser(profile);
      await site.context.close().catch(() => {});
      return openProfile(profile, backend);
    case 'leader closed':
      await site.close(leader);
      await site.open();
      return site;
    case 'worker ended':
      for (const worker of leader.page.workers())
        if (/\/main-[^/]*\.js$/.test(worker.url())) await worker.evaluate(() => self.close()).catch(() => {});
      return site;
    case 'storage full':
      await fillStorage(site.context, leader);
      return site;
    case 'reload':
      await site.reload(leader);
      return site;
    default:
      return kind satisfies never;
  }
}

/** Until the job says so. */
async function fillStorage(context: BrowserContext, tab: Tab): Promise<void> {
  const session = await context.newCDPSession(tab.page);
  const { origin } = new URL(tab.page.url());
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
  // A file has room for some hundred rows more than it holds.
  await expect
    .poll(
      async () => {
        const [info] = await jobInfos(tab);
        return info?.state === 'finished' ? 'STORAGE_QUOTA' : info?.error?.code;
      },
      { timeout: PART_MS },
    )
    .toBe('STORAGE_QUOTA');
  await session.send('Storage.overrideQuotaForOrigin', { origin });
  await session.detach();
}

/** As a crash of the machine's memory would: no process of it says goodbye. */
function killBrowser(profile: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (command.includes(`--user-data-dir=${profile}`)) process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}

async function anyTab(site: Site): Promise<Tab> {
  return site.tabs.at(-1) ?? site.open();
}

function jobInfos(tab: Tab): Promise<readonly JobInfo[]> {
  return tab.page.evaluate(async () => (await window.tabserve.jobs.list()).map((job) => job.info));
}

function createJob(tab: Tab): Promise<string> {
  const rows = Array.from({ length: NUM_ROWS }, (_, index) => rowAt(index));
  return tab.page.evaluate(
    async ([template, options, seed, given]) =>
      (await window.tabserve.jobs.create({ rows: given, template, options, seed })).id,
    [TEMPLATE, OPTIONS, SEED, rows] as const,
  );
}

function resultsOf(tab: Tab, id: string) {
  return tab.page.evaluate(async (jobId) => {
    const job = await window.tabserve.jobs.get(jobId);
    const texts: { index: number; text: string | undefined }[] = [];
    for await (const { index, result } of job.results())
      texts.push({ index, text: result.text ?? result.error?.message });
    return texts;
  }, id);
}

/** Each prompt by itself, with nothing beside it. */
function textsAlone(tab: Tab): Promise<string[]> {
  const requests = Array.from({ length: NUM_ROWS }, (_, index) => {
    return [promptAt(index), { ...OPTIONS, seed: (SEED + index) % 2 ** 32 }] as const;
  });
  return tab.page.evaluate(async (given) => {
    const texts: string[] = [];
    for (const [prompt, options] of given)
      texts.push((await window.tabserve.generate(prompt, options)).generatedText);
    return texts;
  }, requests);
}

function shuffled<Value>(values: readonly Value[], random: () => number): readonly Value[] {
  return values
    .map((value) => ({ value, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value);
}
