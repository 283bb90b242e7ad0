import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { formatReport } from './format-report.ts';
import { measureAll } from './measure.ts';

// node tools/bench-batch/node.ts [--json]

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const report = await measureAll({
  usedHeapBytes: () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  },
});
console.log(process.argv.includes('--json') ? JSON.stringify(report, null, 2) : formatReport(report));
