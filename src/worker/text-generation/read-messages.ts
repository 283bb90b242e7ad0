import { InvalidOptionError } from '../../batching/errors.ts';
import { oneOf, validator } from '../../batching/validate.ts';
import { isRecord } from '../../platform/is-record.ts';
import { chatMessage, type ChatMessage } from '../../protocol/chat.ts';

const readRole = oneOf(...chatMessage.entries.role.options);
const readContent = validator('a text', (value, refuse) => {
  if (typeof value === 'string') return value;
  throw refuse(value);
});

/** @throws InvalidOptionError naming the place, such as `prompt[1].role`. */
export function readMessages(prompt: readonly unknown[]): readonly ChatMessage[] {
  return prompt.map((message, index) => readMessage(message, `prompt[${index}]`));
}

function readMessage(message: unknown, place: string): ChatMessage {
  if (!isRecord(message)) throw InvalidOptionError.of(place, 'a message with a role and content', message);
  const { role, content, ...others } = message;
  const [[name, value] = []] = Object.entries(others);
  if (name !== undefined) throw InvalidOptionError.of(`${place}.${name}`, 'left out of a message', value);
  return { role: readRole(`${place}.role`, role), content: readContent(`${place}.content`, content) };
}
