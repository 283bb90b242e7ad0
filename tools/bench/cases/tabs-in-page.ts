declare global {
  interface Window {
    isStreaming?: boolean;
  }
}

/** Runs in the page, sent there as text. Streams until the first token after the worker is lost. */
export async function timeHandoverInPage({
  prompts,
}: {
  readonly prompts: readonly string[];
}): Promise<{ readonly nextTokenAtMs: number; readonly loadMs: number }> {
  const { tabserve } = window;
  const { timeOrigin } = performance;
  const generator = tabserve.getHandle('text-generator');
  const responses = prompts.map((prompt) => generator.remote(prompt, { maxNewTokens: 400 }));
  let loadStartedAtMs = Number.NaN;
  let readyAtMs = Number.NaN;
  const nextTokenAtMs = await new Promise<number>((resolve) => {
    tabserve.subscribe('status', ({ isHandover, state }) => {
      if (isHandover && Number.isNaN(loadStartedAtMs)) loadStartedAtMs = performance.now();
      if (state === 'ready' && !Number.isNaN(loadStartedAtMs)) readyAtMs = performance.now();
    });
    tabserve.subscribe('requests', (updates) => {
      if (!updates.some(({ type }) => type === 'chunk')) return;
      window.isStreaming = true;
      if (!Number.isNaN(readyAtMs)) resolve(performance.now());
    });
  });
  for (const response of responses) response.cancel();
  return { nextTokenAtMs: timeOrigin + nextTokenAtMs, loadMs: readyAtMs - loadStartedAtMs };
}
