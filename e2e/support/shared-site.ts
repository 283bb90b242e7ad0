import { requireEnvironment } from './environment.ts';
import { Site } from './site.ts';
import { DEFAULT_KNOBS } from './tab.ts';
import { expect, test } from './test.ts';

/**
 * One profile for the tests of a group. Its tabs stay open from test to test, each of which must leave them without errors.
 *
 * @returns Opens or closes tabs until there are so many, all ready, with the knobs at their defaults and nothing recorded.
 */
export function shareSite(): (numTabs: number) => Promise<Site> {
  let site: Site | undefined;
  test.beforeAll(async ({ browser, backend }) => {
    site = new Site(await browser.newContext({ baseURL: requireEnvironment().pageUrl }), backend);
  });
  test.afterEach(() => {
    for (const { errors, foreignUrls } of site?.tabs ?? [])
      expect({ errors, foreignUrls }).toEqual({ errors: [], foreignUrls: [] });
  });
  test.afterAll(() => site?.context.close());
  return async (numTabs) => {
    if (!site) throw new Error('The group of tests has not begun.');
    await site.openReady(Math.max(0, numTabs - site.tabs.length));
    for (const tab of (await site.followers()).slice(numTabs - 1)) await site.close(tab);
    await (await site.leader()).configure(DEFAULT_KNOBS);
    for (const tab of site.tabs) {
      await tab.cancelBegun();
      await tab.whenIdle();
      await tab.forget();
      await expect.poll(async () => (await tab.status()).numTabs).toBe(numTabs);
    }
    return site;
  };
}
