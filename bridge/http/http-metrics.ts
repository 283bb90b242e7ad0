import { toPrometheusText } from '../../src/batching/metrics/prometheus.ts';
import { MetricsRegistry } from '../../src/batching/metrics/registry.ts';
import type { LogEntry } from './access-log.ts';

const LATENCY_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 300, 400, 500, 1000, 2000, 5000, 10_000, 60_000, 120_000, 300_000, 600_000,
];

/** The bridge's own metrics, under Ray Serve's names for its proxy. */
export class HttpMetrics {
  readonly #registry = new MetricsRegistry();
  readonly #answered = this.#registry.counter('serve_num_http_requests_total', 'HTTP requests answered.', [
    'route',
    'method',
    'status_code',
  ]);
  readonly #latency = this.#registry.histogram(
    'serve_http_request_latency_ms',
    'Received to answered, over HTTP.',
    ['route'],
    LATENCY_MS,
  );
  readonly #ongoing = this.#registry.gauge('serve_num_ongoing_http_requests', 'HTTP requests under way.', []);
  #numOngoing = 0;

  begin(): void {
    this.#numOngoing += 1;
    this.#ongoing.set({}, this.#numOngoing);
  }

  /** @param route The path of its route. */
  end(
    route: string,
    { method, status, durationMs }: Pick<LogEntry, 'method' | 'status' | 'durationMs'>,
  ): void {
    this.#numOngoing -= 1;
    this.#ongoing.set({}, this.#numOngoing);
    this.#answered.inc({ route, method, status_code: String(status) });
    this.#latency.observe({ route }, durationMs);
  }

  toText(): string {
    return toPrometheusText(this.#registry.snapshot());
  }
}
