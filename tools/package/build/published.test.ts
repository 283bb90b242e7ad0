import { expect, it } from 'vitest';

import manifest from '../../../package.json' with { type: 'json' };
import { publishedDocument, publishedManifest } from './published.ts';

const REPOSITORY = 'https://github.example/someone/tabserve';

it('the published manifest brings no other package and runs no script', () => {
  const published = publishedManifest(undefined);
  for (const field of ['private', 'scripts', 'dependencies', 'devDependencies', 'overrides', 'allowScripts'])
    expect(published).not.toHaveProperty(field);
  expect(published).toMatchObject({ name: 'tabserve', exports: manifest.exports, bin: manifest.bin });
});

it('the published manifest names the repository that publishes it', () => {
  expect(publishedManifest(REPOSITORY)).toMatchObject({
    repository: { type: 'git', url: `git+${REPOSITORY}.git` },
    homepage: `${REPOSITORY}#readme`,
    bugs: `${REPOSITORY}/issues`,
  });
});

it('links of a published document lead to the repository at this version, else to files of the package', () => {
  const text = [
    '[docs](../../docs/frameworks.md#react), [site](https://example.com), [here](#here)',
    'and code: list[0](a, b), [x](no-such-file.md)',
  ].join('\n');
  const publish = (repository: string | undefined): string =>
    publishedDocument(text, { from: 'tools/package/README.md', to: 'README.md', repository });
  expect(publish(undefined)).toBe(text.replace('../../docs/', 'docs/'));
  expect(publish(REPOSITORY)).toBe(
    text.replace('../../docs/', `${REPOSITORY}/blob/v${manifest.version}/docs/`),
  );
});

it('pictures of a published document are those of the repository', () => {
  const to = 'docs/using-the-page.md';
  const picture = 'pictures/run-light.webp';
  expect(publishedDocument(`<img src="${picture}" />`, { from: to, to, repository: REPOSITORY })).toBe(
    `<img src="${REPOSITORY}/raw/v${manifest.version}/docs/${picture}" />`,
  );
});
