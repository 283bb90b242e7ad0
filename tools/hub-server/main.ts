import { CHAT_MODEL, chatCheckpoint, TOOL_MODEL, toolCheckpoint } from './checkpoints/chat-checkpoint.ts';
import { ENCODERS } from './checkpoints/encoders.ts';
import { PONG_MODEL, pongCheckpoint } from './checkpoints/pong-checkpoint.ts';
import { createRepository } from './hub-repository.ts';
import { startHubServer } from './hub-server.ts';

const USAGE = `Usage: node tools/hub-server/main.ts
Serves a model hub on a free port of this machine until it is stopped, and prints its address. It has generated models: two for chats,
one of which takes tools, one that embeds texts and one that answers PONG.`;

if (process.argv.length > 2) {
  console.log(USAGE);
  process.exit();
}
const EMBEDDING_MODEL = 'generated/bert';
const { url } = await startHubServer([
  await createRepository(CHAT_MODEL, chatCheckpoint()),
  await createRepository(TOOL_MODEL, toolCheckpoint()),
  await createRepository(EMBEDDING_MODEL, ENCODERS.get(EMBEDDING_MODEL)?.() ?? new Map()),
  await createRepository(PONG_MODEL, pongCheckpoint()),
]);
console.log(`The hub at ${url} has ${CHAT_MODEL}, ${TOOL_MODEL}, ${EMBEDDING_MODEL} and ${PONG_MODEL}.`);
