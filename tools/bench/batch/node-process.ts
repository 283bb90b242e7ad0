import { measureCancel, measureContender } from './measure.ts';

// One measurement in a process of its own: `node --expose-gc node-process.ts contender <name>` or `... cancel <number>`.

const [kind, argument = ''] = process.argv.slice(2);
const result =
  kind === 'contender'
    ? await measureContender(argument, usedHeapBytes)
    : await measureCancel(Number(argument));
console.log(JSON.stringify(result));

function usedHeapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
