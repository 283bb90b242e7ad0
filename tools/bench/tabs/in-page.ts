declare global {
  interface Window {
    isStreaming?: boolean;
  }
}

/** Time from the loss of the worker to the next token, and the part that loads and warms up the model. */
export interface Handover {
  readonly totalMs: number;
  readonly loadMs: number;
}

interface GeneratePlan {
  readonly prompts: readonly string[];
  readonly maxNewTokens: number;
}

/** Runs in the page, sent there as text. Sends all prompts at once, and returns output tokens per second. */
export async function generateInPage({ prompts, maxNewTokens }: GeneratePlan): Promise<number> {
  const generator = window.tabserve.getHandle('text-generator');
  const startMs = performance.now();
  const results = await Promise.all(
    prompts.map((prompt) => generator.remote(prompt, { temperature: 0, maxNewTokens }).result()),
  );
  const numTokens = results.reduce((total, { usage }) => total + usage.numOutputTokens, 0);
  return (numTokens * 1000) / (performance.now() - startMs);
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
