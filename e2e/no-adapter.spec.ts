import { NO_WEBGPU_ARGUMENTS } from '../bridge/browser/launch-arguments.ts';
import { expect, test } from './support/test.ts';

test.use({
  launchOptions: async ({ launchOptions }, provide) =>
    provide({ ...launchOptions, args: [...NO_WEBGPU_ARGUMENTS] }),
});

test.describe('in a browser without a WebGPU adapter', () => {
  test('?backend=webgpu fails with NO_WEBGPU_ADAPTER; the page sends nothing, does not say that it runs the model, and links to ?backend=wasm', async ({
    ownTab,
  }) => {
    const { page } = ownTab;
    await ownTab.open('?backend=webgpu');
    await expect(ownTab.ready()).rejects.toThrow('NoWebGpuAdapterError');
    const { state, error } = await ownTab.status();
    expect(state).toBe('failed');
    expect(error?.code).toBe('NO_WEBGPU_ADAPTER');
    await expect(page.getByText('NO_WEBGPU_ADAPTER').first()).toBeVisible();
    await expect(page.getByTestId('serve-state')).toHaveText('Failed');
    const facts = await ownTab.openStatus();
    await expect(facts).toContainText('No model is running');
    await expect(facts).not.toContainText('runs the model');
    for (const name of ['Send', /^Run \d+ prompts at once$/])
      await expect(page.getByRole('button', { name, exact: true })).toBeDisabled();
    await expect(page.locator('.compose')).toContainText('No model is running, so nothing can be sent.');
    await page.getByRole('textbox', { name: 'Prompt' }).press('Enter');
    await expect(page.locator('[data-status]')).toHaveCount(0);
    const [outcome] = await ownTab.outcomesOf([{ prompt: 'Once upon a time,' }]);
    expect(outcome?.code, 'for the client').toBe('NO_WEBGPU_ADAPTER');

    await page.getByRole('link', { name: 'Open the page with ?backend=wasm' }).click();
    await expect(page.getByTestId('serve-state')).toHaveText('Ready');
    await expect(page.getByRole('button', { name: 'Send', exact: true })).toBeEnabled();
    await expect(await ownTab.openStatus()).toContainText('This tab · runs the model');
  });

  test('the page falls back to the CPU by itself, says why, and fetches 3.5 MB for its first token', async ({
    ownTab,
  }) => {
    const fetched = new Map<string, number>();
    ownTab.page.context().on('response', async (response) => {
      const body = await response.body().catch(() => Buffer.alloc(0));
      fetched.set(new URL(response.url()).pathname, body.byteLength);
    });
    await ownTab.open('');
    const { backend } = await ownTab.ready();
    expect(backend?.name).toBe('wasm');
    expect(backend?.fallbackReason).toContain('adapter');
    const { text } = await ownTab.generate('Once upon a time,', { maxNewTokens: 4 });
    expect([...fetched.keys()].filter((path) => /\/ort[-.]|transformers|\.wasm$/.test(path))).toEqual([]);
    expect([...fetched.keys()].some((path) => path.endsWith('model.safetensors'))).toBe(true);
    const total = [...fetched.values()].reduce((sum, bytes) => sum + bytes, 0);
    console.info(`${total} bytes until the first token`);
    expect(total, 'bytes, not compressed').toBeLessThan(3.5e6);
    expect(text.startsWith('Once upon a time,')).toBe(true);
    await expect(await ownTab.openStatus()).toContainText(backend?.fallbackReason ?? '?');
    await expect(ownTab.page.locator('body'), 'no remedy for what works').not.toContainText('?backend=wasm');
  });
});
