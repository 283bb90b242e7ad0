import { expectReferenceTokens } from './support/expect-reference.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

// Playwright's own default keeps no page for its return.
test.use({
  launchOptions: async ({ launchOptions }, provide) =>
    provide({ ...launchOptions, ignoreDefaultArgs: ['--disable-back-forward-cache'] }),
});

test(
  'the tab that leads goes to another page and comes back: its follower ends what runs, and both serve',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    await site.openReady(2);
    const leader = await site.leader();
    const [follower] = await site.followers();
    if (!follower) throw new Error('No tab follows.');
    const request = { prompt: 'Once upon a time,', options: { maxNewTokens: 400, seed: 3 } };
    const calm = await follower.generate(request.prompt, request.options);
    await follower.begin([request]);
    await follower.whenStreamed(1);
    await leader.page.evaluate(() => {
      addEventListener('pageshow', ({ persisted }) => Object.assign(window, { wasKept: persisted }));
    });
    // Browsers request an icon for a page that has none.
    await site.context.route('**/favicon.ico', (route) => route.fulfill({ status: 204 }));
    await leader.page.goto('/third-party-licenses.txt');
    const [outcome] = await follower.outcomesOfBegun();
    expect(outcome?.value?.text).toBe(calm.text);
    expect(outcome?.streamed.text).toBe(calm.generatedText);
    // A page that was kept fires no load event.
    await leader.page.goBack({ waitUntil: 'commit' });
    const isKept = await leader.page.evaluate(() => 'wasKept' in window);
    console.log(`    the browser has ${isKept ? 'kept the page' : 'loaded the page anew'}`);
    await leader.page.waitForFunction(() => 'tabserve' in window);
    await leader.ready();
    await expectReferenceTokens(leader);
    await expectReferenceTokens(follower);
    expect((await leader.status()).role).toBe('follower');
    expect(site.numWorkers).toBe(1);
  },
);
