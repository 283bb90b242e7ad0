import type { WireError } from '../../../client/index.ts';

// Why a trace can't be replayed. docs/errors.md is made from these functions.

export function noTrace(): WireError {
  return {
    code: 'NO_TRACE',
    message: 'There is no trace to replay. Choose a file that a load test exported.',
  };
}

export function noArrivalTimes(): WireError {
  return {
    code: 'NO_ARRIVAL_TIMES',
    message:
      'The requests of this trace have no arrival times to scale. Choose Run, or record a trace with a rate.',
  };
}
