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

/** Paths that monitors ask again and again. */
export const PROBE_PATHS = {
  health: '/health',
  healthz: '/healthz',
  rayHealthz: '/-/healthz',
  metrics: '/metrics',
} as const;

const PROBES: ReadonlySet<string> = new Set(Object.values(PROBE_PATHS));

export const LOG_LEVELS = ['off', 'errors', 'requests', 'all'] as const;

/** `errors` are those of a status from 400 on. Only `all` has health checks and scrapes of the metrics. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A line of JSON for each entry of the level. */
export function createAccessLog(level: LogLevel, write: (line: string) => void): (entry: LogEntry) => void {
  return (entry) => {
    const { path, status } = entry;
    if (level === 'off' || (level === 'errors' && status < 400)) return;
    if (level === 'all' || !PROBES.has(path)) write(JSON.stringify(entry));
  };
}
