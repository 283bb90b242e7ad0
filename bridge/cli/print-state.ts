import type { TabserveClient } from '../../src/client/client.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';

/**
 * Prints a line when the model becomes ready or fails, without repeating the last line. A missing tab is not a failure: the
 * browser may take its time to start.
 *
 * @param url The server's address.
 */
export function printState(
  serve: Pick<TabserveClient, 'subscribe'>,
  url: string,
  print: (line: string) => void,
): void {
  let lastLine: string | undefined;
  serve.subscribe('status', (status) => {
    const line = lineOf(status, url);
    if (line === undefined || line === lastLine) return;
    lastLine = line;
    print(line);
  });
}

function lineOf({ state, model, backend, error }: TabserveStatus, url: string): string | undefined {
  if (state === 'failed') return error?.code === 'NO_TAB' ? undefined : error?.message;
  if (state !== 'ready' || !model || !backend) return undefined;
  const example = `curl "${new URL(url).origin}/?text=Once+upon+a+time"`;
  return `${model.id} is ready on ${backend.name} ${backend.precision}, ${backend.adapter}. Try: ${example}`;
}
