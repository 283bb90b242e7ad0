import { describe, expect, it } from 'vitest';

import { filesOf } from '../../testing/tiny-checkpoint.ts';
import { createTokenizer } from './tokenizer.ts';
import { readTokenizerFiles } from './tokenizer-files.ts';
import { errorWith } from '../../testing/error-with.ts';

const TOKENIZER = { model: { type: 'BPE', vocab: { a: 0 }, merges: [] }, decoder: { type: 'ByteLevel' } };
/** Of BERT. */
const VOCABULARY = new TextEncoder().encode('[CLS]\n[SEP]\nfox\n');
const BARE = { model: { type: 'WordPiece' }, decoder: { type: 'WordPiece', prefix: '##' } };
const JINJA = new TextEncoder().encode('{{ messages }}');

async function configOf(files: Readonly<Record<string, unknown>>): Promise<unknown> {
  return (await readTokenizerFiles(filesOf({ 'tokenizer.json': TOKENIZER, ...files }), 8)).tokenizerConfig;
}

describe('the chat template', () => {
  it.each<[string, Readonly<Record<string, object>>, string | undefined]>([
    [
      'is that of the configuration',
      { 'tokenizer_config.json': { chat_template: 'in config' } },
      'in config',
    ],
    [
      'is that of its own file, before the configuration',
      { 'tokenizer_config.json': { chat_template: 'in config' }, 'chat_template.jinja': JINJA },
      '{{ messages }}',
    ],
    ['is that of its own file without a configuration', { 'chat_template.jinja': JINJA }, '{{ messages }}'],
    ['is that of the old JSON file', { 'chat_template.json': { chat_template: 'in JSON' } }, 'in JSON'],
    [
      'is that of the configuration before the old JSON file',
      {
        'tokenizer_config.json': { chat_template: 'in config' },
        'chat_template.json': { chat_template: 'in JSON' },
      },
      'in config',
    ],
    ['may be missing', { 'tokenizer_config.json': { bos_token: '<s>' } }, undefined],
  ])('%s', async (_, files, template) => {
    expect(await configOf(files)).toEqual({
      ...files['tokenizer_config.json'],
      ...(template !== undefined && { chat_template: template }),
    });
  });

  it('is not looked for where the configuration says that there is none', async () => {
    const opened: string[] = [];
    const files = filesOf({ 'tokenizer.json': TOKENIZER, 'tokenizer_config.json': { chat_template: null } });
    const open = (name: string) => {
      opened.push(name);
      return files.open(name);
    };
    await readTokenizerFiles({ open }, 8);
    expect(opened.toSorted()).toEqual(['tokenizer.json', 'tokenizer_config.json']);
  });
});

it('of an encoder may have a chat template that Tabserve does not render', async () => {
  const files = { 'tokenizer.json': TOKENIZER, 'tokenizer_config.json': { chat_template: '{{ lipsum() }}' } };
  const { tokenizer, tokenizerConfig } = await readTokenizerFiles(filesOf(files), 8, false);
  expect((await createTokenizer(tokenizer, tokenizerConfig, 8, false)).chatTemplate).toBeUndefined();
  await expect(readTokenizerFiles(filesOf(files), 8)).rejects.toMatchObject({ code: 'UNSUPPORTED_MODEL' });
});

describe('rejects', () => {
  it('a tokenizer that cannot be decoded, before anything else is fetched', async () => {
    const unigram = { ...TOKENIZER, model: { type: 'Unigram', vocab: [] } };
    await expect(configOf({ 'tokenizer.json': unigram })).rejects.toMatchObject({
      code: 'UNSUPPORTED_MODEL',
    });
  });

  it('a regular expression that may take forever, before anything else is fetched', async () => {
    const hostile = {
      ...TOKENIZER,
      pre_tokenizer: { type: 'Split', pattern: { Regex: '(a+)+$' }, behavior: 'Isolated', invert: false },
    };
    await expect(configOf({ 'tokenizer.json': hostile })).rejects.toEqual(
      errorWith('UNSUPPORTED_MODEL', '"(a+)+$", which may take forever'),
    );
  });

  it('a configuration that is no object', async () => {
    await expect(configOf({ 'tokenizer_config.json': [] })).rejects.toEqual(
      errorWith('MODEL_FILE_CORRUPT', 'tokenizer_config.json'),
    );
  });

  it.each([
    ['no vocabulary at all', {}, 'MODEL_FILE_MISSING', 'nor vocab.txt'],
    ['a vocab.txt without its special tokens', { 'vocab.txt': VOCABULARY }, 'MODEL_FILE_CORRUPT', '[UNK]'],
    ['a tokenizer.json without its vocabulary', { 'tokenizer.json': BARE }, 'MODEL_FILE_CORRUPT', 'vocab'],
  ])('WordPiece with %s', async (_, files, code, message) => {
    await expect(readTokenizerFiles(filesOf(files), 8)).rejects.toThrow(errorWith(code, message));
  });
});
