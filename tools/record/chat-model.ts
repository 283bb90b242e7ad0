import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const STORYTELLER = fileURLToPath(new URL('../../public/models/storyteller', import.meta.url));

/** Continues the messages as one text. */
const TEMPLATE =
  "{% for message in messages %}{% if message.role != 'system' %}{{ message.content }}{% if not loop.last %}{{ ' ' }}{% endif %}{% endif %}{% endfor %}";

/** A copy of the embedded model that takes chats, so that pictures of chats need no download. Returns its folder. */
export async function createChatModel(): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), 'tabserve-')), 'storyteller-chat');
  await cp(STORYTELLER, folder, { recursive: true });
  const path = join(folder, 'tokenizer_config.json');
  const config: unknown = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify(Object.assign({}, config, { chat_template: TEMPLATE })));
  return folder;
}
