import { expect, it } from 'vitest';

import { readHubSnapshot } from './hub-snapshot.ts';

it('reads the files of a commit from every page, without folders, large ones by what they stand for', async () => {
  const pages = new Map<string, Response>([
    ['https://hub/api/models/a/b/revision/refs%2Fpr%2F1?expand=sha', Response.json({ sha: 'c0ffee' })],
    [
      'https://hub/api/models/a/b/tree/c0ffee',
      Response.json(
        [
          { type: 'directory', path: 'onnx', size: 0, oid: 'aa' },
          { type: 'file', path: 'config.json', size: 7, oid: 'bb' },
        ],
        { headers: { Link: '<https://hub/page-2>; rel="next"' } },
      ),
    ],
    [
      'https://hub/page-2',
      Response.json([
        { type: 'file', path: 'model.safetensors', size: 130, oid: 'cc', lfs: { oid: 'dd', size: 9000 } },
      ]),
    ],
  ]);
  const client = {
    hub: 'https://hub',
    id: 'a/b',
    fetch: (url: string) => Promise.resolve(pages.get(url) ?? Response.error()),
  };
  const { commit, files } = await readHubSnapshot(client, 'refs/pr/1');
  expect(commit).toBe('c0ffee');
  expect([...files.values()]).toEqual([
    { path: 'config.json', size: 7, digest: { algorithm: 'git-blob', hex: 'bb' } },
    { path: 'model.safetensors', size: 9000, digest: { algorithm: 'sha256', hex: 'dd' } },
  ]);
});
