import type { LanguageModelV4, ProviderV4 } from '@ai-sdk/provider';
import { createTabserve, type TabserveCallOptions } from 'tabserve/ai-sdk';

import { sameType } from './same-type.js';

const tabserve = createTabserve({ name: 'app', worker: () => new Worker('worker.js') });
export const provider: ProviderV4 = tabserve;

createTabserve({
  name: undefined,
  worker: () => new Worker('worker.js'),
  load: { dtype: undefined, onProgress: ({ loaded }) => sameType<typeof loaded, number>() },
});
const chatModel = tabserve('HuggingFaceTB/SmolLM2-135M-Instruct');
sameType<typeof chatModel, LanguageModelV4>();
const completionModel = tabserve.completionModel('storyteller');
sameType<typeof completionModel, LanguageModelV4>();
export const options: TabserveCallOptions = { minTokens: 8, seed: undefined };

// @ts-expect-error -- the app owns its worker
createTabserve({ name: 'app' });
// @ts-expect-error -- a model has an ID
tabserve();
export const tooMany: TabserveCallOptions = {
  // @ts-expect-error -- an answer of the AI SDK has one continuation
  n: 2,
};
