import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { contentSecurityPolicy } from '../../bridge/static/content-security-policy.ts';

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

export interface PolicyReports {
  /** Takes reports by POST. Answers a GET with the reports since the last GET, as a JSON list of lines. */
  readonly url: string;
  /** Returns the reports since the last GET. */
  take(): readonly string[];
  close(): void;
}

/**
 * Receives the browser's reports of policy violations in pages, workers and their workers. A test's script could not reach all of
 * them from their first line on.
 */
export async function collectPolicyReports(): Promise<PolicyReports> {
  const reports: string[] = [];
  const take = (): readonly string[] => reports.splice(0);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The pages take answers of other origins only where these say so.
    response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    if (request.method === 'POST') reports.push(describeReport(await readBody(request)));
    response.end(request.method === 'POST' ? '' : JSON.stringify(take()));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has such an address
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    take,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The policy of the built page, with a URL for reports of violations. */
export function reportingPolicy(reportUrl: string, hub: readonly string[] = []): string {
  return `${contentSecurityPolicy(hub)}; report-uri ${reportUrl}`;
}

/** From a test's own process. */
export async function takePolicyReports(url: string): Promise<readonly string[]> {
  const response = await fetch(url);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server above
  return (await response.json()) as readonly string[];
}

function describeReport(json: string): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as browsers send it
  const { 'csp-report': report } = JSON.parse(json) as PolicyReport;
  const where = `${report['source-file'] ?? report['document-uri']}:${report['line-number'] ?? 0}`;
  return `${report['effective-directive']} stopped ${report['blocked-uri']} at ${where}`;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
  return body;
}
