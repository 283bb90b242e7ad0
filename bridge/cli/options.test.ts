import { describe, expect, it } from 'vitest';

import { DEFAULT_POLICY } from '../../src/protocol/status.ts';
import { parseOptions, USAGE } from './options.ts';

describe('parseOptions', () => {
  it('listens on localhost:8000 and opens a browser unless told otherwise', () => {
    expect(parseOptions([])).toEqual({
      port: 8000,
      host: 'localhost',
      openBrowser: 'with-screen',
      isHeadless: false,
      allowedOrigins: [],
      allowsPriority: false,
      drainMs: 10_000,
      allowsAnyModel: false,
      allowsAdmin: false,
      logLevel: 'requests',
      knobs: {},
      hub: [],
      batchFolder: expect.stringMatching(/tabserve.batches$/),
      maxUploadBytes: 512 * 2 ** 20,
      help: false,
    });
  });

  it('takes a port, a host and --no-open', () => {
    const args = ['--port', '0', '--host=127.0.0.1', '--no-open'];
    expect(parseOptions(args)).toMatchObject({ port: 0, host: '127.0.0.1', openBrowser: 'never' });
  });

  it('takes the origins of a hub', () => {
    const args = ['--hub=https://hub.example/models', '--hub', 'http://localhost:9000'];
    expect(parseOptions(args).hub).toEqual(['https://hub.example', 'http://localhost:9000']);
    expect(() => parseOptions(['--hub=hub.example'])).toThrow('address of a hub');
  });

  it.each([
    ['http://gpu:8000', 'http://gpu:8000'],
    ['http://gpu:8000/v1/', 'http://gpu:8000'],
    ['https://host.example/llm/v1', 'https://host.example/llm'],
  ])('takes the upstream %s as %s', (text, url) => {
    expect(parseOptions(['--upstream', text]).target).toEqual({ url });
    const named = parseOptions(['--upstream', text, '--upstream-model=gpt2']);
    expect(named.target).toEqual({ url, model: 'gpt2' });
  });

  it.each([
    ['gpu:8000', 'OpenAI-compatible server'],
    ['ftp://gpu', 'OpenAI-compatible server'],
    ['http://gpu/?a=b', 'without a query'],
    ['http://me:secret@gpu', 'TABSERVE_UPSTREAM_API_KEY'],
  ])('rejects the upstream %s, without repeating a password', (text, remedy) => {
    const parse = () => parseOptions(['--upstream', text]);
    expect(parse).toThrow(remedy);
    expect(parse).not.toThrow('secret');
  });

  it('rejects the model of an upstream that is not there', () => {
    expect(() => parseOptions(['--upstream-model=gpt2'])).toThrow('`--upstream`');
  });

  it('takes a time to drain, and lets clients choose a priority', () => {
    expect(parseOptions(['--drain-ms', '0', '--allow-priority'])).toMatchObject({
      drainMs: 0,
      allowsPriority: true,
    });
  });

  it.each(['-1', '1.5', '10s', '', '2147483648'])('rejects %j as a time to drain', (text) => {
    expect(() => parseOptions([`--drain-ms=${text}`])).toThrow('`--drain-ms` to be an integer from 0');
  });

  it('takes origins that may ask, and a level of the log', () => {
    const args = [
      '--allow-origin=https://a.example/page',
      '--allow-origin',
      'http://localhost:3000',
      '--log=off',
    ];
    expect(parseOptions(args)).toMatchObject({
      allowedOrigins: ['https://a.example', 'http://localhost:3000'],
      logLevel: 'off',
    });
    expect(() => parseOptions(['--allow-origin=*'])).toThrow('`--allow-origin` to be an origin');
    expect(() => parseOptions(['--log=some'])).toThrow('one of off, errors, requests, all');
  });

  it('takes the backend of the page that it opens, headless or not', () => {
    expect(parseOptions(['--headless', '--backend=wasm'])).toMatchObject({
      isHeadless: true,
      backend: 'wasm',
    });
    expect(parseOptions(['--backend', 'webgpu']).backend).toBe('webgpu');
    expect(() => parseOptions(['--backend=cuda'])).toThrow(
      '`--backend` to be one of webgpu, wasm, got `cuda`',
    );
    expect(() => parseOptions(['--backend=wasm', '--upstream=http://gpu:8000'])).toThrow(
      'leave out one of them',
    );
  });

  it('takes a model of the hub and its precision', () => {
    const args = ['--model', 'HuggingFaceTB/SmolLM2-135M-Instruct', '--dtype=q8'];
    expect(parseOptions(args)).toMatchObject({ model: 'HuggingFaceTB/SmolLM2-135M-Instruct', dtype: 'q8' });
    expect(() => parseOptions(['--model=https://huggingface.co/gpt2'])).toThrow('ID of a model on the hub');
    expect(() => parseOptions(['--model=gpt2', '--dtype=int4'])).toThrow('one of auto, fp16, fp32, q8, q4');
  });

  it('takes a page of one’s own, which names its model itself', () => {
    expect(parseOptions(['--root=dist', '--entry', 'app.html'])).toMatchObject({
      root: 'dist',
      entry: 'app.html',
    });
    expect(() => parseOptions(['--root=dist', '--model=a/b'])).toThrow(/`--model` without `--root`.*connect/);
    expect(() => parseOptions(['--entry=app.html'])).toThrow('`--entry` to come with `--root`');
  });

  it('takes models beside the one that generates, and refuses an option that is given twice', () => {
    const args = ['--model=owner/chat', '--embedder=owner/bert', '--reranker', 'owner/cross'];
    const parsed = { model: 'owner/chat', embedder: 'owner/bert', reranker: 'owner/cross' };
    expect(parseOptions(args)).toMatchObject(parsed);
    expect(() => parseOptions(['--embedder=folder/'])).toThrow('`--embedder` to be the ID of a model');
    expect(() => parseOptions(['--model=a/b', '--model=c/d'])).toThrow(
      /`--model` once\. `--embedder` and `--reranker` name models beside it/,
    );
    expect(() => parseOptions(['--port=1', '--port', '2'])).toThrow('Expected `--port` once.');
    expect(parseOptions(['--hub=http://a', '--hub=http://b']).hub).toHaveLength(2);
  });

  it.each([
    ['--dtype=q8', '--model'],
    ['--profile=folder', '--headless'],
    ['--upstream-model=gpt2', '--upstream'],
  ])('rejects %s without %s', (option, companion) => {
    expect(() => parseOptions([option])).toThrow(`to come with \`${companion}\``);
  });

  it.each([
    '--model=gpt2',
    '--embedder=a/b',
    '--backend=wasm',
    '--max-batch-size=4',
    '--any-model',
    '--allow-admin',
  ])('rejects %s beside an upstream, which would ignore it', (option) => {
    const parse = () => parseOptions([option, '--upstream=http://gpu:8000']);
    expect(parse).toThrow(`\`${option.split('=')[0]}\` without \`--upstream\``);
  });

  it('has an option for each knob, and takes what the knob takes', () => {
    const values = { ...DEFAULT_POLICY, policy: 'static', maxBatchSize: 4, prefixCaching: false };
    const args = Object.entries(values).map(
      ([knob, value]) => `--${knob.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}=${value}`,
    );
    expect(parseOptions(args).knobs).toEqual(values);
    for (const arg of args) expect(USAGE).toContain(arg.split('=')[0]);
  });

  it.each([
    ['--max-batch-size=0', '`--max-batch-size` to be an integer >= 1 and <= 64, got `0`'],
    ['--max-batch-size=', '`--max-batch-size` to be an integer >= 1 and <= 64, got `` (string)'],
    ['--policy=dynamic', '`--policy` to be one of off, static, continuous'],
    ['--prefix-caching=yes', '`--prefix-caching` to be true or false'],
  ])('rejects the knob %s as the option that it is', (arg, message) => {
    expect(() => parseOptions([arg])).toThrow(message);
  });

  it('opens no browser beside the one without a window', () => {
    expect(parseOptions(['--headless'])).toMatchObject({ isHeadless: true, openBrowser: 'never' });
  });

  it('opens one where it is told to, whatever is there, unless it is told not to as well', () => {
    expect(parseOptions(['--open'])).toMatchObject({ isHeadless: false, openBrowser: 'always' });
    expect(parseOptions(['--open', '--headless'])).toMatchObject({ isHeadless: true, openBrowser: 'always' });
    expect(parseOptions(['--open', '--no-open']).openBrowser).toBe('never');
  });

  it('rejects an empty host, which would be every interface', () => {
    expect(() => parseOptions(['--host='])).toThrow('`--host` to be a name or an address');
  });

  it.each(['70000', '-1', '80.5', '0x50', 'http', ''])(
    'rejects the port %j and says what it takes',
    (port) => {
      expect(() => parseOptions([`--port=${port}`])).toThrow('integer from 0 to 65535');
    },
  );

  it.each([
    [['--prot', '1'], /^Unknown option `--prot`: the nearest of \d+ is --port\.\n/],
    [['-p', '1'], /^Unknown option `-p`: see the list below\.\n/],
    [['8000'], /^Expected options alone, got `8000`\.\n/],
    [['--port'], /^Expected `--port` to have a value, as `--port=VALUE`\.\n/],
    [['--port', '--open'], /^Expected `--port` to have a value, as `--port=--open`\.\n/],
    [['--open=yes'], /^Expected `--open` without a value, got `yes`\.\n/],
  ])('rejects %j in words of ours, with the usage text', (args, message) => {
    expect(() => parseOptions(args)).toThrow(message);
    expect(() => parseOptions(args)).toThrow('Usage: npx tabserve [options]');
  });
});
