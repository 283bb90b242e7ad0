import { systemClock } from '../../src/batching/base/clock.ts';
import type { TabserveClient } from '../../src/client/client.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';
import { BridgeError } from '../base/errors.ts';
import type { ProgressBar } from './progress-bar.ts';
import { encoderLine, readyLine } from './ready-line.ts';

export interface StateOptions {
  /** The server's origin. */
  readonly url: string;
  readonly print: (line: string) => void;
  readonly bar: Pick<ProgressBar, 'show' | 'clear'>;
  /** IDs of the models that are to serve beside the first one. */
  readonly encoders: readonly string[];
  /** Called if no model was ready before this failure, or one of the encoders has never served. */
  readonly onFailedStart: (reason: BridgeError) => void;
}

/**
 * Shows the progress of a load, and prints a line when a model becomes ready or fails, without repeating the last line. A missing
 * tab is not a failure: the browser may take its time to start.
 */
export function printState(
  serve: Pick<TabserveClient, 'subscribe' | 'getHandle'>,
  { url, print, bar, encoders: awaited, onFailedStart }: StateOptions,
): void {
  let last: string | undefined;
  let hasBeenReady = false;
  const isNews = (news: string): boolean => {
    const isRepeated = news === last;
    last = news;
    return !isRepeated;
  };
  const told = new Set<string>();
  const missing = new Set(awaited);
  const printOnce = (line: string): void => {
    if (told.has(line)) return;
    told.add(line);
    bar.clear();
    print(line);
  };
  serve.subscribe('status', (status) => {
    bar.show(status);
    const { state, error, model, encoders = [], loadFailure } = status;
    // The first of several models without one that generates is in the ready line.
    for (const encoder of model ? encoders : encoders.slice(1)) printOnce(encoderLine(encoder, url));
    for (const { id } of encoders) missing.delete(id);
    if (loadFailure && missing.has(loadFailure.id)) {
      onFailedStart(BridgeError.modelNotLoaded(loadFailure.error));
      return;
    }
    if (loadFailure) printOnce(loadFailure.error.message);
    if (state === 'ready' && isNews(servedBy(status))) {
      const secondsToReady = hasBeenReady ? undefined : systemClock.now() / 1000;
      hasBeenReady = true;
      bar.clear();
      void readyLine(serve, status, url, secondsToReady).then(print);
    } else if (state === 'failed' && error && error.code !== 'NO_TAB' && isNews(error.message)) {
      bar.clear();
      if (hasBeenReady) print(error.message);
      else onFailedStart(BridgeError.modelNotLoaded(error));
    }
  });
}

function servedBy({ model, backend, encoders = [] }: TabserveStatus): string {
  // Beside a model that generates, an encoder is no news.
  const id = model?.id ?? encoders[0]?.id;
  return JSON.stringify([id, backend?.name, backend?.precision, backend?.adapter]);
}
