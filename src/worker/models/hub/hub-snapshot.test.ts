import { expect, it } from 'vitest';

import { readHubSnapshot } from './hub-snapshot.ts';

function clientOf(body: unknown) {
  const asked: string[] = [];
  const fetch = (url: string): Promise<Response> => {
    asked.push(url);
    return Promise.resolve(Response.json(body));
  };
  return { client: { hub: 'https://hub', id: 'a/b', fetch }, asked };
}

it('reads the files of a commit with one request, large ones by what they stand for', async () => {
  const { client, asked } = clientOf({
    sha: 'c0ffee',
    siblings: [
      { rfilename: 'config.json', size: 7, blobId: 'bb' },
      {
        rfilename: 'model.safetensors',
        size: 130,
        blobId: 'cc',
        lfs: { sha256: 'dd', size: 9000, pointerSize: 130 },
      },
    ],
  });
  const { commit, files } = await readHubSnapshot(client, 'refs/pr/1');
  expect(asked).toEqual(['https://hub/api/models/a/b/revision/refs%2Fpr%2F1?blobs=true']);
  expect(commit).toBe('c0ffee');
  expect([...files.values()]).toEqual([
    { path: 'config.json', size: 7, digest: { algorithm: 'git-blob', hex: 'bb' } },
    { path: 'model.safetensors', size: 9000, digest: { algorithm: 'sha256', hex: 'dd' } },
  ]);
});

it('refuses a list without sizes, as a server sends that knows no `blobs`', async () => {
  const { client } = clientOf({ sha: 'c0ffee', siblings: [{ rfilename: 'config.json' }] });
  await expect(readHubSnapshot(client, 'main')).rejects.toMatchObject({ code: 'HUB_BAD_ANSWER' });
});
