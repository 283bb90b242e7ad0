import { NO_WEBGPU_ARGUMENTS } from '../tools/browser/launch-arguments.ts';
import { expect, test } from './support/test.ts';

test.use({
  launchOptions: async ({ launchOptions }, provide) =>
    provide({ ...launchOptions, args: [...NO_WEBGPU_ARGUMENTS] }),
});

test.describe('in a browser without a WebGPU adapter', () => {
  test('?backend=webgpu fails with NO_WEBGPU_ADAPTER, in the page and for the client', async ({ ownTab }) => {
    await ownTab.open('?backend=webgpu');
    await expect(ownTab.ready()).rejects.toThrow('NoWebGpuAdapterError');
    const { state, error } = await ownTab.status();
    expect(state).toBe('failed');
    expect(error?.code).toBe('NO_WEBGPU_ADAPTER');
    await expect(ownTab.page.getByText('NO_WEBGPU_ADAPTER').first()).toBeVisible();
    const [outcome] = await ownTab.outcomesOf([{ prompt: 'Once upon a time,' }]);
    expect(outcome?.code).toBe('NO_WEBGPU_ADAPTER');
  });

  test('the page falls back to WASM by itself and says why', async ({ ownTab }) => {
    await ownTab.open('');
    const { backend } = await ownTab.ready();
    expect(backend?.name).toBe('wasm');
    expect(backend?.fallbackReason).toContain('adapter');
    await expect(ownTab.page.getByText(backend?.fallbackReason ?? '').first()).toBeVisible();
    const { text } = await ownTab.generate('Once upon a time,', { maxNewTokens: 4 });
    expect(text.startsWith('Once upon a time,')).toBe(true);
  });
});
