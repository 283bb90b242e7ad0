import type { Page } from 'playwright';

import type { GeneratedCheckpoint } from '../../e2e/hub-server/checkpoints/generated-checkpoint.ts';
import type { ServeStatus } from '../../src/worker/protocol/status.ts';

/** Opens a generated checkpoint in the page, as if its user had picked the folder. */
export async function loadStandIn(
  page: Page,
  name: string,
  checkpoint: GeneratedCheckpoint,
): Promise<ServeStatus> {
  const folder = `**/${name}/*`;
  await page.route(folder, async (route) => {
    const file = checkpoint.get(new URL(route.request().url()).pathname.split('/').at(-1) ?? '');
    if (!file) return route.fulfill({ status: 404 });
    return route.fulfill({ body: Buffer.from(file.read(0, file.size)) });
  });
  const status = await page.evaluate(openFolder, { name, fileNames: [...checkpoint.keys()] });
  await page.unroute(folder);
  return status;
}

/** Runs in the page. */
async function openFolder({
  name,
  fileNames,
}: {
  readonly name: string;
  readonly fileNames: readonly string[];
}): Promise<ServeStatus> {
  const files = await Promise.all(
    fileNames.map(async (fileName) => {
      const response = await fetch(`/${name}/${fileName}`);
      const file = new File([await response.blob()], fileName);
      // What a picked folder sets: the model is named after it.
      return Object.defineProperty(file, 'webkitRelativePath', { value: `${name}/${fileName}` });
    }),
  );
  return window.tabserve.loadModel(files);
}
