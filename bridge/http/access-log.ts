/** One line of the log. It holds neither prompts nor texts. */
export interface LogEntry {
  /** When the answer ended, in ISO 8601. */
  readonly time: string;
  /** As in the header `X-Request-Id` of the answer. */
  readonly requestId: string;
  /** The method of the request. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** 499 if the client left first. An answer that broke off has the status of its error. */
  readonly status: number;
  /** From the request to the end of the answer. */
  readonly durationMs: number;
  /** The error's code and message. */
  readonly error?: string;
}

export const LOG_LEVELS = ['off', 'errors', 'all'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** A line of JSON for each entry; `errors` are those of a status from 400 on. */
export function createAccessLog(level: LogLevel, write: (line: string) => void): (entry: LogEntry) => void {
  return (entry) => {
    if (level === 'all' || (level === 'errors' && entry.status >= 400)) write(JSON.stringify(entry));
  };
}
