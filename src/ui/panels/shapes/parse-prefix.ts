/**
 * The value of JSON that still grows: what is open is closed, and a part that can't stand yet is left out. Undefined for a text
 * that isn't the beginning of JSON, and before there is a value.
 */
export function parsePrefix(text: string): unknown {
  const { closers, isInString, end, lastComplete } = scan(text);
  const value = parsed(text.slice(0, end) + (isInString ? '"' : '') + closers);
  return value === undefined ? parsed(text.slice(0, lastComplete) + closers) : value;
}

/** Finds the brackets that close the text, the start of an unfinished escape, and the end of the innermost complete part. */
function scan(text: string) {
  let closers = '';
  let isInString = false;
  let lastComplete = 0;
  let end = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') isInString = !isInString;
    else if (isInString) {
      if (character !== '\\') continue;
      const length = text[index + 1] === 'u' ? 6 : 2;
      if (index + length > text.length) end = index;
      index += length - 1;
    } else if (character === '{' || character === '[') {
      closers = (character === '{' ? '}' : ']') + closers;
      lastComplete = index + 1;
    } else if (character === '}' || character === ']') closers = closers.slice(1);
    else if (character === ',') lastComplete = index;
  }
  return { closers, isInString, end, lastComplete };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
