import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { contentSecurityPolicy } from '../../bridge/static/content-security-policy.ts';
import { listen, type Listening } from '../../bridge/testing/listen.ts';

/** The used part of a browser's report of a violation, in the format of `report-uri`. */
interface PolicyReport {
  readonly 'csp-report': {
    readonly 'document-uri': string;
    readonly 'effective-directive': string;
    readonly 'blocked-uri': string;
    readonly 'source-file'?: string;
    readonly 'line-number'?: number;
  };
}

/**
 * Receives the browser's reports of policy violations in pages, workers and their workers. A test's script could not reach all of
 * them from their first line on. The server takes reports by POST, and answers a GET with those since the last GET.
 */
export function collectPolicyReports(): Promise<Listening> {
  const reports: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The pages take answers of other origins only where these say so.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    if (request.method === 'POST') {
      const { 'csp-report': report }: PolicyReport = JSON.parse(await text(request));
      const where = `${report['source-file'] ?? report['document-uri']}:${report['line-number'] ?? 0}`;
      reports.push(`${report['effective-directive']} stopped ${report['blocked-uri']} at ${where}`);
    }
    response.end(request.method === 'POST' ? '' : JSON.stringify(reports.splice(0)));
  };
  return listen((request, response) => void answer(request, response));
}

export function reportingPolicy(reportUrl: string, hub: readonly string[] = []): string {
  return `${contentSecurityPolicy(hub)}; report-uri ${reportUrl}`;
}

/** Those since the last call, one line each. */
export async function takePolicyReports(url: string): Promise<readonly string[]> {
  const response = await fetch(url);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server above
  return (await response.json()) as readonly string[];
}
