import { createHash } from 'node:crypto';
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

import { readLocalModel } from '../local-models/read-local-model.ts';
import { createFolder, mountBridge } from '../testing/test-support.ts';

const WEIGHTS = 'some weights';

async function serveModel() {
  const folder = await createFolder({ 'config.json': '{}', 'a b#.safetensors': WEIGHTS });
  const model = await readLocalModel('model', folder, () => false);
  const { bridge, url } = await mountBridge({ localModels: [model] });
  const listUrl = `${url}/api/models/${model.id}/revision/${model.revision}?blobs=true`;
  const weightsUrl = `${url}/${model.id}/resolve/${model.revision}/a%20b%23.safetensors`;
  return { folder, model, bridge, url, listUrl, weightsUrl };
}

it('a model is listed as a hub lists it, and the page is told its revision', async () => {
  const { model, bridge, listUrl } = await serveModel();
  expect(bridge.headElements).toContain(`content="${model.id}@${model.revision}"`);
  expect(await (await fetch(listUrl)).json()).toMatchObject({
    sha: model.revision,
    siblings: [
      {
        rfilename: 'a b#.safetensors',
        lfs: { size: WEIGHTS.length, sha256: createHash('sha256').update(WEIGHTS).digest('hex') },
      },
      { rfilename: 'config.json', size: 2 },
    ],
  });
});

it.each([
  ['bytes=5-8', 206, 'weig', 'bytes 5-8/12'],
  ['bytes=5-', 206, 'weights', 'bytes 5-11/12'],
  ['bytes=5-500', 206, 'weights', 'bytes 5-11/12'],
  ['bytes=50-', 200, WEIGHTS, null],
  ['lines=1-2', 200, WEIGHTS, null],
])('a request for %s gets its part of a file', async (range, status, text, contentRange) => {
  const { weightsUrl } = await serveModel();
  const answer = await fetch(weightsUrl, { headers: { Range: range } });
  expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
    status,
    text,
    contentRange,
  ]);
});

it.each(['size', 'time'])(
  'a file of another %s than at the start is the end of that revision',
  async (change) => {
    const { folder, listUrl, weightsUrl } = await serveModel();
    const path = join(folder, 'a b#.safetensors');
    await (change === 'size' ? writeFile(path, 'others') : utimes(path, 1, 1));
    for (const url of [listUrl, weightsUrl]) {
      const { status, headers } = await fetch(url);
      expect([status, headers.get('x-error-code')]).toEqual([404, 'RevisionNotFound']);
    }
  },
);

it.each(['config.json/..%2f..%2fetc', 'tokenizer.json', '..%2fconfig.json'])(
  'a file that is not in the list is not there: %s',
  async (name) => {
    const { url, model } = await serveModel();
    const { status } = await fetch(`${url}/${model.id}/resolve/${model.revision}/${name}`);
    expect(status).toBe(404);
  },
);

it('a page of another origin gets nothing', async () => {
  const { listUrl, weightsUrl } = await serveModel();
  for (const url of [listUrl, weightsUrl])
    expect((await fetch(url, { headers: { Origin: 'http://elsewhere.example' } })).status).toBe(403);
});
