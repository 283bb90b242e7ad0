import { beforeEach, describe, expect, it } from 'vitest';

import type { CreateJobOptions, TabserveClient } from '../../../client/index.ts';
import { JobForm } from './job-form.ts';
import { readPermalink } from '../../state/permalink.ts';
import { READY_TEMPLATES } from './ready-templates.ts';
import { createSampleFile } from './sample-file.ts';

const fileOf = (name: string, text: string): File => new File([text], name);

/** A client that takes jobs and reads their rows. */
class PlayedClient {
  backend = 'wasm';
  readonly created: CreateJobOptions[] = [];
  rows: unknown[] = [];
  hasChatTemplate = true;
  refusal: Error | undefined;
  readonly jobs = {
    create: async (options: CreateJobOptions): Promise<unknown> => {
      this.created.push(options);
      this.rows = [];
      for await (const row of 'rows' in options ? options.rows : options.requests) {
        options.signal?.throwIfAborted();
        this.rows.push(typeof row === 'string' ? JSON.parse(row) : row);
        options.onStored?.(this.rows.length);
      }
      if (this.refusal) throw this.refusal;
      return { id: '1' };
    },
  };

  status(): unknown {
    return { model: { hasChatTemplate: this.hasChatTemplate }, backend: { name: this.backend } };
  }
}

let client: PlayedClient;
let form: JobForm;
let openForm: (hash: string) => JobForm;
const view = () => form.store.getState();

beforeEach(() => {
  client = new PlayedClient();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the form asks for nothing else
  openForm = (hash) => new JobForm(client as unknown as TabserveClient, readPermalink(hash));
  form = openForm('');
});

it('at a server, a choice asks for no probabilities, which few servers can tell', () => {
  form.changeOption('responseFormat', 'choice\ngood\nbad');
  expect(form.readOptions()?.logprobs).toBe(true);
  client.backend = 'server';
  expect(form.readOptions()).toMatchObject({ responseFormat: { type: 'choice' } });
  expect(form.readOptions()).not.toHaveProperty('logprobs');
});

describe('a file', () => {
  it('brings a first template, of the column with the longest text', async () => {
    await form.choose(createSampleFile());
    expect(view().template).toBe('{{review}}');
    expect(view().file?.columns).toEqual(['id', 'product', 'rating', 'review']);
    expect(view()).toMatchObject({ numRows: 500, isCounting: false });
  });

  it('keeps a prompt that was written, and replaces a column that it lacks', async () => {
    await form.choose(fileOf('a.csv', 'id,text\n1,one'));
    form.change({ template: 'Say {{text}}' });
    await form.choose(fileOf('b.csv', 'text,more\nx,y'));
    await form.choose(fileOf('c.csv', 'title\nx'));
    expect(view().template).toBe('Say {{text}}');
    form.change({ template: '{{text}}' });
    await form.choose(fileOf('b.csv', 'text,more\nx,y'));
    expect(view().template).toBe('{{text}}');
    await form.choose(fileOf('c.csv', 'title\nx'));
    expect(view().template).toBe('{{title}}');
  });

  it('that is refused says why, and takes the one before away', async () => {
    await form.choose(fileOf('a.csv', 'id,text\n1,one'));
    await form.choose(fileOf('a.json', 'id,text'));
    expect(view()).toMatchObject({ file: undefined, fileError: { code: 'FILE_FORMAT' } });
  });

  it('counts if it was chosen last, however long another takes to open', async () => {
    const slow = fileOf('slow.csv', 'id\n1');
    const { promise, resolve } = Promise.withResolvers<void>();
    const slice = slow.slice.bind(slow);
    slow.slice = (...range) => {
      const part = slice(...range);
      const read = part.arrayBuffer.bind(part);
      part.arrayBuffer = () => promise.then(read);
      return part;
    };
    const opening = form.choose(slow);
    await form.choose(fileOf('b.csv', 'id\n1'));
    resolve();
    await opening;
    expect(view().file?.name).toBe('b.csv');
  });
});

it('a link brings prompts, options and model back, and leaves the prompt to any file', async () => {
  form.change({ template: 'Say {{text}}', system: 'Be brief.' });
  form.changeOption('temperature', '0.5');
  const link = form.linkFrom('http://localhost/?view=jobs#prompt=x');
  expect(link).toBe(
    'http://localhost/?view=jobs#temperature=0.5&template=Say+%7B%7Btext%7D%7D&system=Be+brief.',
  );
  form = openForm(new URL(link).hash);
  await form.choose(fileOf('a.csv', 'title\nx'));
  expect(view()).toMatchObject({
    template: 'Say {{text}}',
    system: 'Be brief.',
    texts: { temperature: '0.5' },
  });
  expect(openForm('#prompt=x&temperature=1').store.getState()).toMatchObject({
    template: '',
    texts: { temperature: '' },
  });
});

describe('a job', () => {
  it('has the rows, the template, the options, and the file’s name', async () => {
    await form.choose(fileOf('a.csv', 'id,text\n1,one\n2,two'));
    form.change({ template: 'Say {{text}}', system: 'Be brief.' });
    form.changeOption('seed', '7');
    form.changeOption('temperature', '0.5');
    form.changeOption('logprobs', '0');
    expect(await form.run()).toEqual({ id: '1' });
    const { signal: _, onStored: __, rows: ___, ...created } = Object(client.created[0]);
    expect(created).toEqual({
      name: 'a.csv',
      template: 'Say {{text}}',
      system: 'Be brief.',
      seed: 7,
      options: { maxNewTokens: 256, temperature: 0.5 },
    });
    expect(client.rows).toEqual([
      { id: '1', text: 'one' },
      { id: '2', text: 'two' },
    ]);
    expect(view().numStored).toBeUndefined();
  });

  it('asks how likely each choice is', async () => {
    await form.choose(fileOf('a.csv', 'id\n1'));
    form.changeOption('responseFormat', 'choice\ngood\nbad');
    await form.run();
    expect(client.created).toMatchObject([
      { options: { responseFormat: { type: 'choice', choices: ['good', 'bad'] }, logprobs: true } },
    ]);
  });

  it('has no system message where the model can’t chat', async () => {
    client.hasChatTemplate = false;
    await form.choose(fileOf('a.csv', 'id\n1'));
    form.change({ system: 'Be brief.' });
    await form.run();
    expect(client.created).toMatchObject([{ system: undefined }]);
  });

  it.each(READY_TEMPLATES)('is ready as $title', async (ready) => {
    await form.choose(createSampleFile());
    form.take(ready);
    await form.run();
    expect(client.rows).toHaveLength(500);
    const [created] = client.created;
    expect(Object(created).template).toContain('{{review}}');
    expect(Object(created).options.responseFormat?.type ?? '').toBe(ready.shape.kind);
  });

  it('of vectors has no options', async () => {
    await form.choose(fileOf('a.csv', 'id\n1'));
    form.change({ task: 'embed' });
    await form.run();
    expect(client.created).toMatchObject([{ deployment: 'embedder', template: '{{id}}' }]);
    expect(client.created[0]).not.toHaveProperty('options');
  });

  it('of a batch file has its lines, broken ones too, which the job marks', async () => {
    const line = { custom_id: 'a', method: 'POST', url: '/v1/completions', body: { prompt: 'x' } };
    await form.choose(fileOf('batch.jsonl', `${JSON.stringify(line)}\n{"custom_id":`));
    await form.run();
    expect(client.created[0]).not.toHaveProperty('template');
    expect(client.rows).toEqual([line, { 'unreadable, line 2': expect.stringContaining('is not JSON') }]);
  });

  it('marks rows that can’t be read by having none of their columns', async () => {
    await form.choose(fileOf('a.jsonl', '{"a":\n{"a":{"b":[1]},"c":null,"d":2}\n[]'));
    expect(view()).toMatchObject({ numRows: 3, numUnreadable: 2, rowError: { code: 'INVALID_JSON' } });
    await form.run();
    expect(client.rows).toEqual([
      { a: { b: [1] }, c: null, d: 2 },
      { 'unreadable, line 1': expect.stringContaining('is not JSON') },
      { 'unreadable, line 3': expect.stringContaining('neither an object nor a text') },
    ]);
  });

  it('is not created with wrong options, nor with a wrong shape', async () => {
    await form.choose(fileOf('a.csv', 'id\n1'));
    form.changeOption('temperature', 'hot');
    expect(await form.run()).toBeUndefined();
    expect(view().error?.code).toBe('INVALID_OPTION');
    form.resetOptions();
    form.changeOption('responseFormat', 'json_schema\n{');
    expect(await form.run()).toBeUndefined();
    expect(view().optionErrors.responseFormat).toContain('schema');
    expect(client.created).toEqual([]);
  });

  it('that is refused says why; one that is stopped says nothing', async () => {
    await form.choose(createSampleFile());
    client.refusal = Object.assign(new Error('The disk is full.'), { code: 'STORAGE_QUOTA' });
    expect(await form.run()).toBeUndefined();
    expect(view().error?.code).toBe('STORAGE_QUOTA');
    form.change({});
    form.store.subscribe(({ numStored }) => numStored === 100 && form.stop());
    expect(await form.run()).toBeUndefined();
    expect(client.rows).toHaveLength(100);
    expect(view()).toMatchObject({ error: undefined, numStored: undefined });
  });
});

it('the sample is the same each time', async () => {
  expect(await createSampleFile().text()).toBe(await createSampleFile().text());
});
