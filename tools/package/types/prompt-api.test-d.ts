import { createLanguageModel, installPromptApi, type Availability } from 'tabserve/prompt-api';

import { sameType } from './same-type.js';

const worker = (): Worker => new Worker('worker.js');
installPromptApi({ worker, model: 'HuggingFaceTB/SmolLM2-135M-Instruct', force: true });

const LanguageModel = createLanguageModel({ worker });
createLanguageModel({
  worker,
  model: undefined,
  load: undefined,
  generation: { seed: undefined },
  legacy: undefined,
});
const availability = await LanguageModel.availability();
sameType<typeof availability, Availability>();
const session = await LanguageModel.create({
  initialPrompts: [{ role: 'system', content: 'Be brief.' }],
  monitor: (monitor) =>
    monitor.addEventListener('downloadprogress', ({ loaded }) => sameType<typeof loaded, number>()),
});
void session.prompt('Hello', { signal: undefined });
const answer = await session.prompt([{ role: 'user', content: 'Hello' }]);
sameType<typeof answer, string>();
for await (const delta of session.promptStreaming('Hello')) sameType<typeof delta, string>();

// @ts-expect-error -- no message of a model has such a role
await session.prompt([{ role: 'robot', content: 'Hello' }]);
// @ts-expect-error -- a misspelled mode
await LanguageModel.create({ samplingMode: 'wild' });
