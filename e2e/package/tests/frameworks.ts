import { test } from '../app-page.ts';
import { expectTextToOutliveItsLeader } from '../story.ts';
import { serveFrameworkApp } from '../frameworks.ts';

test.describe('a text of the documented app survives the loss of its leader, built and served by', () => {
  test.skip(!process.env['FRAMEWORKS'], 'npm installs 550 MB for them: set FRAMEWORKS=1.');

  // npm installs them at the first run, and each builds for up to a minute.
  test.setTimeout(480_000);

  for (const name of ['next', 'sveltekit', 'nuxt'] as const) {
    test(name, async ({ place, serveApp, context }) => {
      const url = await serveApp(serveFrameworkApp(place, name));
      await expectTextToOutliveItsLeader(context, url);
    });
  }
});
