import { bytesIn, type ByteRange } from '../formats/byte-ranges.ts';
import { RangesIgnoredError, type HubClient } from './hub-client.ts';
import type { PartFile } from '../store/part-file.ts';

export interface DownloadOptions {
  readonly client: HubClient;
  readonly commit: string;
  readonly path: string;
  readonly part: PartFile;
  readonly needed: readonly ByteRange[];
  readonly signal: AbortSignal;
  /** Called for every chunk that was written. */
  readonly onBytes: (numBytes: number) => void;
}

/** Browsers open six connections to one host, and the page needs some of its own. */
const MAX_CONNECTIONS = 4;
/** Shorter segments cost too many requests; longer ones keep their reader, which goes from front to back, waiting. */
const SHORTEST_SEGMENT = 2 * 1024 * 1024;
const LONGEST_SEGMENT = 16 * 1024 * 1024;
const SEGMENTS_PER_CONNECTION = 2;
/** A try that brings less counts as failed: a hub that sends a part of the rest each time would never be given up. */
const LEAST_PROGRESS = 64 * 1024;
/** Bytes that a crash may lose, per connection. */
const RECORD_STEP = 256 * 1024;

/**
 * Fetches the missing bytes of the part file over several connections. However it ends, the part file and its journal keep
 * what has arrived, and the next call continues there.
 *
 * @throws What the hub's client throws; the signal's reason when it aborts.
 */
export async function download(options: DownloadOptions): Promise<void> {
  const segments = segmentsOf(options.part.missing(options.needed));
  if (segments.length === 0) return;
  try {
    await downloadSegments(options, segments);
  } catch (error) {
    if (!(error instanceof RangesIgnoredError)) throw error;
    await downloadWhole(options);
  }
}

/** In order. They get shorter towards the end, so that all connections end together and nearly in order. */
function segmentsOf(missing: readonly ByteRange[]): readonly ByteRange[] {
  let numLeft = bytesIn(missing);
  return missing.flatMap((range) => {
    const segments: ByteRange[] = [];
    for (let { begin } = range; begin < range.end;) {
      const share = Math.ceil(numLeft / (MAX_CONNECTIONS * SEGMENTS_PER_CONNECTION));
      const length = Math.min(Math.max(share, SHORTEST_SEGMENT), LONGEST_SEGMENT, range.end - begin);
      segments.push({ begin, end: begin + length });
      begin += length;
      numLeft -= length;
    }
    return segments;
  });
}

async function downloadSegments(options: DownloadOptions, segments: readonly ByteRange[]): Promise<void> {
  const waiting = [...segments];
  // The first connection that fails for good aborts the others.
  const failure = new AbortController();
  const signal = AbortSignal.any([options.signal, failure.signal]);
  const work = async (): Promise<void> => {
    try {
      for (let segment = waiting.shift(); segment; segment = waiting.shift())
        await downloadSegment(segment, { ...options, signal });
    } catch (error) {
      failure.abort(error);
      throw error;
    }
  };
  const connections = Array.from({ length: Math.min(MAX_CONNECTIONS, segments.length) }, work);
  // Waits for all: the caller may close the part file then.
  const [failed] = (await Promise.allSettled(connections)).filter((end) => end.status === 'rejected');
  options.signal.throwIfAborted();
  if (failed) throw failure.signal.reason;
}

/** For a server without ranges: after a cut, the download starts again from the beginning. */
async function downloadWhole(options: DownloadOptions): Promise<void> {
  const { client, commit, path, part, signal, onBytes } = options;
  const whole = { begin: 0, end: part.size };
  await client.retry(async () => {
    let position = 0;
    for await (const chunk of client.readRange(commit, { path, size: part.size }, whole, signal)) {
      part.write(position, chunk);
      position += chunk.byteLength;
      onBytes(chunk.byteLength);
    }
  }, signal);
  part.record(whole);
}

/** Continues where the connection was cut, until the segment is complete. */
async function downloadSegment(segment: ByteRange, options: DownloadOptions): Promise<void> {
  const { client, commit, path, part, signal, onBytes } = options;
  const file = { path, size: part.size };
  let { begin } = segment;
  await client.retry(async (onProgress) => {
    const start = begin;
    let position = begin;
    try {
      for await (const chunk of client.readRange(commit, file, { begin, end: segment.end }, signal)) {
        part.write(position, chunk);
        position += chunk.byteLength;
        onBytes(chunk.byteLength);
        if (position - start >= LEAST_PROGRESS) onProgress();
        if (position - begin >= RECORD_STEP) begin = record(part, begin, position);
      }
    } finally {
      begin = record(part, begin, position);
    }
  }, signal);
}

function record(part: PartFile, begin: number, end: number): number {
  if (begin < end) part.record({ begin, end });
  return end;
}
