import { CHAT_MODEL, chatCheckpoint, TOOL_MODEL, toolCheckpoint } from './checkpoints/chat-checkpoint.ts';
import { createRepository } from './hub-repository.ts';
import { startHubServer } from './hub-server.ts';

// A hub with the generated chat models, for programs in other languages. It ends with its process.
const { url } = await startHubServer([
  await createRepository(CHAT_MODEL, chatCheckpoint()),
  await createRepository(TOOL_MODEL, toolCheckpoint()),
]);
console.log(`The hub at ${url} has ${CHAT_MODEL} and ${TOOL_MODEL}.`);
