/** One line of the log: what was asked, and what became of it. Prompts and texts are not in it. */
export interface LogEntry {
  readonly time: string;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** 499 where the client had gone before it was answered; of an answer that broke off, the status of its error. */
  readonly status: number;
  readonly durationMs: number;
  /** Why it was not answered as asked. */
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
