import { BackPressureError, InvalidOptionError, type BackPressureDetails } from '../base/errors.ts';

// A page makes these errors again from their codes, without what is said here.

export function backPressure(details: BackPressureDetails): BackPressureError {
  const { numQueuedRequests, maxQueuedRequests, retryAfterMs } = details;
  return new BackPressureError(
    `Request dropped due to back pressure (num_queued_requests=${numQueuedRequests}, ` +
      `max_queued_requests=${maxQueuedRequests}): retry in about ${Math.ceil(retryAfterMs)} ms, ` +
      'or raise maxQueuedRequests.',
    details,
  );
}

/** Even an empty queue cannot hold these requests, which are accepted together or not at all. */
export function crowd(numRequests: number, maxQueuedRequests: number): InvalidOptionError {
  return new InvalidOptionError(
    `${numRequests} sequences can never be admitted: the queue holds ${maxQueuedRequests} (maxQueuedRequests). ` +
      'Send fewer prompts at a time, lower n, or raise maxQueuedRequests.',
  );
}
