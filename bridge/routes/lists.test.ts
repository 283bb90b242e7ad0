import OpenAI, { BadRequestError } from 'openai';
import { expect, it } from 'vitest';

import { rowLine } from '../testing/batch-rows.ts';
import { createFolder, mountBridge } from '../testing/test-support.ts';

async function start() {
  const { url } = await mountBridge({ batchFolder: await createFolder({}) });
  const client = new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  const upload = () => client.files.create({ file: new File([rowLine('a')], 'in.jsonl'), purpose: 'batch' });
  return { client, files: [await upload(), await upload(), await upload()] };
}

async function idsOf(list: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of list) ids.unshift(id);
  return ids;
}

it('files and batches are read page after page', async () => {
  const { client, files } = await start();
  const batches = [];
  for (const { id: input_file_id } of files)
    batches.push(
      await client.batches.create({ input_file_id, endpoint: '/v1/completions', completion_window: '24h' }),
    );
  const page = { limit: 1 };
  expect(await idsOf(client.files.list(page))).toEqual(files.map(({ id }) => id));
  expect(await idsOf(client.batches.list(page))).toEqual(batches.map(({ id }) => id));
});

it.each(['files', 'batches'] as const)('%s after an unknown one are refused', async (list) => {
  const { client, files } = await start();
  const asked = Promise.resolve(client[list].list({ after: `${files[0]?.id}x` }));
  await expect(asked).rejects.toBeInstanceOf(BadRequestError);
  await expect(asked).rejects.toMatchObject({ param: 'after', code: 'INVALID_OPTION' });
});
