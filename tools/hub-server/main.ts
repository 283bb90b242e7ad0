import { CHAT_MODEL, chatCheckpoint, TOOL_MODEL, toolCheckpoint } from './checkpoints/chat-checkpoint.ts';
import { ENCODERS } from './checkpoints/encoders.ts';
import { PONG_MODEL, pongCheckpoint } from './checkpoints/pong-checkpoint.ts';
import { createRepository } from './hub-repository.ts';
import { startHubServer } from './hub-server.ts';

// Serves a hub of generated models on a free port of this machine until it is stopped, and prints its address.

const EMBEDDING_MODEL = 'generated/bert';
const { url } = await startHubServer([
  createRepository(CHAT_MODEL, chatCheckpoint()),
  createRepository(TOOL_MODEL, toolCheckpoint()),
  createRepository(EMBEDDING_MODEL, ENCODERS.get(EMBEDDING_MODEL)?.() ?? new Map()),
  createRepository(PONG_MODEL, pongCheckpoint()),
]);
console.log(`The hub at ${url} has ${CHAT_MODEL}, ${TOOL_MODEL}, ${EMBEDDING_MODEL} and ${PONG_MODEL}.`);
