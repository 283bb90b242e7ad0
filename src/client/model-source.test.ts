import { describe, expect, it } from 'vitest';
import { toModelSource } from './model-source.ts';

describe('a model to load', () => {
  it('is an id on huggingface.co, or on the hub that is named', async () => {
    expect(await toModelSource('openai-community/gpt2', {})).toEqual({
      type: 'hub',
      id: 'openai-community/gpt2',
      revision: 'main',
      hub: 'https://huggingface.co',
    });
    const options = { revision: 'v1.0', hub: 'http://localhost:9000/models' };
    expect(await toModelSource('gpt2', options)).toMatchObject({
      revision: 'v1.0',
      hub: 'http://localhost:9000',
    });
  });

  it('is the embedded one under its name', async () => {
    expect(await toModelSource('storyteller', {})).toEqual({ type: 'embedded' });
  });

  it('is the files of a folder', async () => {
    const file = new File(['{}'], 'config.json');
    Object.defineProperty(file, 'webkitRelativePath', { value: 'my-gpt2/config.json' });
    const source = await toModelSource([file], {});
    expect(source).toEqual({ type: 'files', name: 'my-gpt2', files: [file] });
  });

  it.each(['', 'a/b/c', '../secret', 'a/../b', 'a b', 'https://huggingface.co/gpt2', 'a'.repeat(101)])(
    'is not %j',
    async (id) => {
      await expect(toModelSource(id, {})).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    },
  );

  it.each([{ hub: 'huggingface.co' }, { hub: 'ftp://hub' }, { revision: '' }])(
    'does not come from %j',
    async (options) => {
      await expect(toModelSource('gpt2', options)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    },
  );
});
