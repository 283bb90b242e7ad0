import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import type { BenchCase, Setup } from '../bench-case.ts';
import { loadedOf, openReady } from '../open-ready.ts';
import { loadSmollm2, startSmollm2Hub } from '../smollm2.ts';
import { measurePages, type ServedPage } from '../with-pages.ts';
import { embeddedGroups, realGroups } from './engine-groups.ts';
import { SUSTAINED_MS } from './engine-requests.ts';

export const bench: BenchCase = {
  summary: 'tokens per second, steps and latency under each policy; a real model with --model smollm2',
  rounds: 3,
  choices: {
    backend: ['wasm', 'webgpu'],
    model: ['storyteller', 'smollm2'],
    precision: ['fp32', 'q8', 'fp16', 'q4'],
  },
  hasVersions: true,
  async run(chosen, measure) {
    const { backend: name, model, precision } = chosen;
    await using hub = model === 'smollm2' ? await startSmollm2Hub() : undefined;
    const open = async ({ browser, url }: ServedPage): Promise<Omit<Setup, 'browser'>> => {
      const { page, status } = await openReady(await browser.newContext(), `${url}/?backend=${name}`);
      const { backend } = loadedOf(hub ? await loadSmollm2(page, hub.url, precision) : status);
      return {
        key: hub ? `smollm2 ${name} ${precision}` : `storyteller ${name}`,
        model: hub ? 'SmolLM2-135M-Instruct in Q4_1' : 'Storyteller (1.1 M parameters, 4 layers)',
        adapter: `${backend.name} ${backend.precision} (${backend.adapter})`,
        isSoftware: backend.isSoftwareAdapter ?? false,
        note: hub
          ? 'All requests of a row at once, 32 new tokens each, prefill included in tokens/s.'
          : `Requests are sent again when they have ended, for ${SUSTAINED_MS / 1000} s. Prefix caching is off.`,
        groups: hub ? realGroups(page, chosen) : embeddedGroups(page, chosen),
      };
    };
    const policy = contentSecurityPolicy(hub ? [hub.url] : []);
    await measurePages(chosen, { policy }, open, measure);
  },
};
