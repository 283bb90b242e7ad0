import { CHAT_MODEL, chatCheckpoint } from './checkpoints/chat-checkpoint.ts';
import { createRepository } from './hub-repository.ts';
import { startHubServer } from './hub-server.ts';

// A hub with the generated chat model, for programs in other languages. It ends with its process.
const { url } = await startHubServer([await createRepository(CHAT_MODEL, chatCheckpoint())]);
console.log(`The hub at ${url} has ${CHAT_MODEL}.`);
